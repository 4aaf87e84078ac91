"""Marks: how far a stream is archived, committed together with the files that it stands for.

A mark is an application transaction of Delta: a name and a number in the table's log. The log
refuses a commit whose names another commit set since its snapshot was read, so of two archivers
that append the same stream the slower one writes nothing.
"""

from collections.abc import Mapping

from deltalake import DeltaTable, Transaction

# Nothing is archived yet. Times of windows are never negative.
NONE_YET = -1

# Of the upkeep: how often it changed the table's files, and when it deleted unnamed ones. No job is
# called so (`collectors.formats.keys.job_id`).
UPKEEP, VACUUM = "@upkeep", "@vacuum"


def of_job(job_id: str) -> str:
    return job_id


def of_rollup(job_id: str, step_ms: int) -> str:
    return f"{job_id}@{step_ms}"


def read(table: DeltaTable | None, name: str) -> int:
    found = table.transaction_version(name) if table else None
    return NONE_YET if found is None else found


def transactions(marks: Mapping[str, int]) -> list[Transaction]:
    return [Transaction(app_id=name, version=mark) for name, mark in sorted(marks.items())]

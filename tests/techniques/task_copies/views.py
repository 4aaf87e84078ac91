"""Views of a job on a cluster, made up from the attempts of its tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from techniques.view import WINDOW_MS, Executor, Interval, Locality, Tasks, View
from techniques.view.tasks import TYPES

START_MS = 1_700_000_000_000
PER_SECOND = 1_000 // WINDOW_MS
TWO_HOSTS = (Executor("driver", "node-0"), Executor("1", "node-1"), Executor("2", "node-2"))


@dataclass(frozen=True)
class Row:
    """One attempt; times are in milliseconds from the start of the view."""

    start_ms: float
    end_ms: float
    stage: int = 0
    partition: int = 0
    kind: int = 0
    executor: str = "1"
    attempt: int = 0
    speculative: bool = False
    successful: bool = True
    stateful: bool = False
    result: bool = False


def batches(
    durations_ms: Sequence[float],
    *,
    tasks: int = 10,
    kind: int = 0,
    stateful: bool = False,
    result: bool = False,
) -> list[Row]:
    """A batch a second with so many tasks, of these durations, on two executors by turns."""
    return [
        Row(
            start_ms=at // tasks * 1_000,
            end_ms=at // tasks * 1_000 + duration_ms,
            stage=at // tasks * 10 + kind,
            partition=at % tasks,
            kind=kind,
            executor=str(at % 2 + 1),
            stateful=stateful,
            result=result,
        )
        for at, duration_ms in enumerate(durations_ms)
    ]


def overtaken(row: Row, after_ms: float, copy_ms: float) -> list[Row]:
    """The same task with a copy that begins so much later and comes first."""
    at_ms = row.start_ms + after_ms + copy_ms
    copy = replace(row, start_ms=at_ms - copy_ms, end_ms=at_ms, attempt=1, speculative=True)
    return [copy, replace(row, end_ms=at_ms + 1, successful=False)]


def tasks(rows: Iterable[Row]) -> Tasks:
    values = [
        (
            *(START_MS + row.start_ms, START_MS + row.end_ms, row.executor, row.stage, 0),
            *(row.partition, row.attempt, row.speculative, row.successful, Locality.ANY),
            *(row.kind, 0.0, row.stateful, row.result),
        )
        for row in sorted(rows, key=lambda row: row.end_ms)
    ]
    return Tasks(
        *(
            np.array([row[at] for row in values], dtype=dtype) if values else np.empty(0, dtype)
            for at, dtype in enumerate(TYPES)
        )
    )


def view(
    rows: Iterable[Row],
    *,
    seconds: int = 30,
    executors: Sequence[Executor] = TWO_HOSTS,
    sink: str = "MemorySink",
    waiting: float = 0.0,
) -> View:
    """`waiting` is the share of windows at whose end a task waits for a slot."""
    rows = list(rows)
    windows = seconds * PER_SECOND
    nothing = np.full(windows, np.nan)
    return View(
        START_MS,
        *(nothing,) * 5,
        waiting_tasks=(np.arange(windows) % 100 < waiting * 100).astype(np.float64),
        intervals={"task": [_interval(row) for row in sorted(rows, key=lambda row: row.end_ms)]},
        tasks=tasks(rows),
        executors=executors,
        sink=sink,
    )


def _interval(row: Row) -> Interval:
    start_ms, end_ms = START_MS + row.start_ms, START_MS + row.end_ms
    return Interval("task", start_ms, end_ms, row.executor, name=f"stage {row.stage}")

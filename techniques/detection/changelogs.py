"""Which state stores keep changelogs, and what is advised where they do not.

Without changelogs every commit uploads the files that RocksDB flushed and compacted, so a commit
waits for what a compaction wrote. With them (`changelogCheckpointing`) a commit uploads the rows
that changed, and a snapshot goes up in the background every so many versions. So changelogs show as
commits without an upload. Spark reads the setting at the start: no lever can change it later.
"""

from collections.abc import Iterable
from math import inf

import numpy as np

from techniques.intervals import NONE, Intervals
from techniques.model import Advice
from techniques.view import View

# Without changelogs there are as many uploads as commits; a few may be missing at the edges.
COMMITS_PER_UPLOAD = 1.5

CHANGELOGS_FIRST = Advice(
    title="Set changelog checkpointing and restart the job",
    why=(
        "Every commit of this job uploads what RocksDB flushed and compacted. With changelogs it "
        "uploads only the rows that changed, so no batch waits for the files of a compaction."
    ),
    line="--conf spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled=true",
    price=(
        "a restart (from the same checkpoint), and a slower recovery: it replays the changelogs "
        "since the last snapshot, of which there is one every 10 versions (minDeltasForSnapshot)"
    ),
)


def with_changelogs(view: View) -> list[int]:
    """Operators that flushed and whose state stores keep changelogs."""
    return view.once(_with_changelogs)


def without_changelogs(view: View) -> list[int]:
    """Operators that upload at every commit. Those without any upload or commit are left out."""
    return view.once(_without_changelogs)


def advice(view: View, operators: Iterable[int]) -> Advice | None:
    """Returns the advice to set changelogs first, as an expert would before any of our techniques,
    or None unless one of these operators uploads at every commit."""
    return CHANGELOGS_FIRST if set(operators) & set(without_changelogs(view)) else None


def _with_changelogs(view: View) -> list[int]:
    return [
        operator for operator in _flushing(view) if _per_upload(view, operator) > COMMITS_PER_UPLOAD
    ]


def _without_changelogs(view: View) -> list[int]:
    return [
        operator
        for operator in _flushing(view)
        if 0 < _per_upload(view, operator) <= COMMITS_PER_UPLOAD
    ]


def _flushing(view: View) -> list[int]:
    return sorted(set(view.of("flush").operator.tolist()) - {NONE})


def _per_upload(view: View, operator: int) -> float:
    """Commits per upload: 0 without commits, infinite without uploads."""

    def count(intervals: Intervals) -> int:
        return int(np.count_nonzero(intervals.operator == operator))

    commits, uploads = count(view.of("commit")), count(view.of("snapshot"))
    if not commits:
        return 0.0
    return commits / uploads if uploads else inf

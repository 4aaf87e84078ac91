"""A job's latest intervals, by kind, and what Spark's scheduler knows of its tasks."""

from collections.abc import Iterable, Sequence

import numpy as np

from collectors.formats.activity import Activity, Kind
from dashboard.series.column_buffer import ColumnBuffer
from techniques.intervals import NONE, Intervals
from techniques.view import Locality, Tasks
from techniques.view.tasks import TYPES as TASK_TYPES

# Types of the columns of `Intervals`, in the order of its fields; the second is the end time.
TYPES = (np.float64, np.float64, object, np.int64, np.int64, object, np.int64)
ENDED = 1
# Intervals of one kind per window, on average.
MOST_PER_WINDOW = 10


class IntervalHistory:
    def __init__(self, windows: int, with_tasks: bool) -> None:
        self._most = MOST_PER_WINDOW * windows
        self._held: dict[Kind, ColumnBuffer] = {}
        self._tasks = ColumnBuffer(TASK_TYPES, self._most, ENDED) if with_tasks else None

    def add(self, by_kind: dict[Kind, list[Activity]]) -> None:
        for kind, ended in by_kind.items():
            if kind not in self._held:
                self._held[kind] = ColumnBuffer(TYPES, self._most, ENDED)
            self._held[kind].add(_intervals(ended))
        if self._tasks is not None:
            self._tasks.add(_tasks(by_kind.get(Kind.TASK, ())))

    def drop_before(self, oldest_ms: float) -> None:
        for held in self._held.values():
            held.drop_before(oldest_ms)
        if self._tasks is not None:
            self._tasks.drop_before(oldest_ms)

    def intervals(self) -> dict[str, Intervals]:
        return {
            kind.name.lower(): Intervals(kind.name.lower(), *held.columns())
            for kind, held in self._held.items()
        }

    def tasks(self) -> Tasks:
        return Tasks.none() if self._tasks is None else Tasks(*self._tasks.columns())


def _intervals(ended: Iterable[Activity]) -> list[tuple[object, ...]]:
    return [
        (
            each.start_us / 1000,
            each.end_us / 1000,
            each.executor_id,
            NONE if each.operator is None else each.operator,
            NONE if each.partition is None else each.partition,
            each.name,
            NONE if each.input_bytes is None else each.input_bytes,
        )
        for each in ended
    ]


def _tasks(ended: Sequence[Activity]) -> list[tuple[object, ...]]:
    """Rows of the tasks that carry scheduler details besides their interval."""
    return [
        (
            each.start_us / 1000,
            each.end_us / 1000,
            each.executor_id,
            task.stage,
            task.stage_attempt,
            NONE if each.partition is None else each.partition,
            task.attempt,
            task.speculative,
            task.successful,
            task.locality if task.locality in _LOCALITIES else Locality.UNKNOWN,
            NONE if task.kind is None else task.kind,
            np.nan if task.waited_ms is None else task.waited_ms,
            task.stateful,
            task.result,
        )
        for each in ended
        if (task := each.task)
    ]


_LOCALITIES = frozenset(map(int, Locality))

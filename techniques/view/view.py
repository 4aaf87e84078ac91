"""A job as detectors and controllers see it: arrays of 50 ms windows, and what ran in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from techniques.intervals import Floats, Interval, Intervals, Ints
from techniques.slo.objective import Objective
from techniques.view.executors import Executor
from techniques.view.heavy_keys import HeavyKey
from techniques.view.pools import Pool
from techniques.view.tasks import Tasks
from techniques.view.traffic import Traffic

T = TypeVar("T")

WINDOW_MS = 50


class ResourceKind(StrEnum):
    CPU = "CPU"
    IO = "I/O"
    GC = "GC stop"
    # 1 means that for every running thread another one waits for a core.
    RUN_QUEUE = "run queue"


@dataclass(frozen=True)
class Resource:
    """A resource of one host or one executor."""

    kind: ResourceKind
    where: str


@dataclass(frozen=True)
class View:
    """Arrays have one value per window, from `start_ms` on without a gap; NaN is *not known*.

    `use` is the utilisation of each resource, 1 = all of it; `intervals` are by kind, in the order
    of their ends. `cores` is the largest number of cores of an executor. `queues` are the lengths
    of the operator pools' queues by name, `pool@host/operator/instance`; `objective` is the SLO,
    `objective_ms` the latency that it is about over the last complete ten seconds, if known;
    `sink` is what Spark calls the query's sink, empty if it is not known. `heavy_keys` are empty
    unless the job watches its keys.

    Parts that no rule and no controller reads (`techniques.view.reads`) are empty.
    """

    start_ms: int
    records: Floats
    p50_ms: Floats
    p99_ms: Floats
    p999_ms: Floats
    backlog_rows: Floats
    waiting_tasks: Floats
    use: Mapping[Resource, Floats] = field(default_factory=dict)
    queues: Mapping[str, Floats] = field(default_factory=dict)
    intervals: Mapping[str, Sequence[Interval]] = field(default_factory=dict)
    cores: int | None = None
    tasks: Tasks = field(default_factory=Tasks.none)
    pools: Sequence[Pool] = ()
    traffic: Traffic = field(default_factory=Traffic.none)
    executors: Sequence[Executor] = ()
    objective: Objective | None = None
    objective_ms: float | None = None
    sink: str = ""
    heavy_keys: Sequence[HeavyKey] = ()
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def end_ms(self) -> int:
        return self.start_ms + len(self) * WINDOW_MS

    def at_ms(self, window: int) -> int:
        return self.start_ms + window * WINDOW_MS

    def of(self, kind: str) -> Intervals:
        """Intervals of one kind, by their start."""
        return self._once(kind, lambda: Intervals.of(kind, self.intervals.get(kind, ())).by_start())

    def once(self, work: Callable[["View"], T]) -> T:
        """Returns `work(self)`, computed once for all rules that ask for it."""
        return self._once(work, lambda: work(self))

    def windows(self, intervals: Iterable[Interval]) -> list[tuple[int, int]]:
        """The windows of each interval that overlaps the view, as [first, after the last)."""
        columns = Intervals.of("", intervals)
        return self.between(columns.start_ms, columns.end_ms)

    def between(self, start_ms: Floats, end_ms: Floats) -> list[tuple[int, int]]:
        """As `windows`, for arrays of starts and ends."""
        first, after = self._bounds(start_ms, end_ms)
        return list(zip(first.tolist(), after.tolist(), strict=True))

    def running(self, intervals: Iterable[Interval]) -> Floats:
        """How many of the intervals touch each window."""
        columns = Intervals.of("", intervals)
        first, after = self._bounds(columns.start_ms, columns.end_ms)
        size = len(self) + 1
        changes = np.bincount(first, minlength=size) - np.bincount(after, minlength=size)
        return np.cumsum(changes[:-1], dtype=np.float64)

    def _bounds(self, start_ms: Floats, end_ms: Floats) -> tuple[Ints, Ints]:
        first = (start_ms - self.start_ms) // WINDOW_MS
        after = (end_ms - self.start_ms) // WINDOW_MS + 1
        inside = (after > 0) & (first < len(self))
        return (
            np.maximum(first[inside], 0).astype(np.int64),
            np.minimum(after[inside], len(self)).astype(np.int64),
        )

    def _once(self, key: object, work: Callable[[], T]) -> T:
        if key not in self._known:
            self._known[key] = work()
        found: T = self._known[key]
        return found

"""A job as detectors and controllers see it: arrays of 50 ms windows, and what ran in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WINDOW_MS = 50
_start_ms = attrgetter("start_ms")


class ResourceKind(StrEnum):
    CPU = "CPU"
    IO = "I/O"
    GC = "GC stop"
    RUN_QUEUE = "run queue"


@dataclass(frozen=True)
class Resource:
    """Of one host or one executor."""

    kind: ResourceKind
    where: str


@dataclass(frozen=True)
class Interval:
    """Something with a start and an end: a flush, a compaction, a GC pause, a batch, a task …"""

    kind: str
    start_ms: float
    end_ms: float
    executor: str = ""
    operator: int | None = None
    partition: int | None = None
    name: str = ""
    input_bytes: int | None = None

    @property
    def duration_ms(self) -> float:
        return self.end_ms - self.start_ms


@dataclass(frozen=True)
class View:
    """Arrays have one value per window, from `start_ms` on without a gap; NaN is *not known*.

    `use` is how much of a resource was taken, 1 = all of it; `intervals` are by kind, in the order
    of their ends.
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

    def __len__(self) -> int:
        return len(self.records)

    @property
    def end_ms(self) -> int:
        return self.start_ms + len(self) * WINDOW_MS

    def at_ms(self, window: int) -> int:
        return self.start_ms + window * WINDOW_MS

    def of(self, kind: str) -> list[Interval]:
        """Intervals of one kind, by their start."""
        return sorted(self.intervals.get(kind, ()), key=_start_ms)

    def windows(self, intervals: Iterable[Interval]) -> list[tuple[int, int]]:
        """Of each interval that reaches into the view, its windows as [first, after the last)."""
        found = []
        for interval in intervals:
            first = int((interval.start_ms - self.start_ms) // WINDOW_MS)
            after = int((interval.end_ms - self.start_ms) // WINDOW_MS) + 1
            if after > 0 and first < len(self):
                found.append((max(0, first), min(len(self), after)))
        return found

    def running(self, intervals: Iterable[Interval]) -> Floats:
        """How many of the intervals touch each window."""
        changes = np.zeros(len(self) + 1)
        for first, after in self.windows(intervals):
            changes[first] += 1
            changes[after] -= 1
        return np.cumsum(changes[:-1])

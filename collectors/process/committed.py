"""Committed latency: from a record's event time to the commit of its micro-batch.

A task cannot know when its batch will be committed. It counts how old each record was at one moment
of its own, the reference. The remaining time, commit − reference, is the same for all its records
and is added here when Spark's progress event reports the commit. The reference cancels out, so a
wrong clock on an executor does no harm. Tasks may arrive before or after the progress event, as
long as they arrive before the batch's window is closed.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from collectors.formats.buckets import FINE, ORDINARY, Histogram, index_of
from collectors.formats.parts import TaskLatencies
from collectors.formats.wire import Batch

# Limit for one run, where each filled bucket counts as one: 7 MB, and 0.2 s of work per commit.
MOST_WEIGHT = 500_000
WEIGHT_OF_A_TASK = 20

_AGES_US = tuple(int(FINE.middle_us(index)) for index in range(FINE.buckets))


class _Ages(NamedTuple):
    """A task's histogram as sorted arrays, which take a fraction of a dict's memory."""

    reference_us: int
    indexes: "array[int]"
    counts: tuple[int, ...]

    @property
    def records(self) -> int:
        return sum(self.counts)


@dataclass
class _Held:
    ages: list[_Ages] = field(default_factory=list)
    # (stage, partition) → the attempt whose records count: the first that arrived.
    attempts: dict[tuple[int, int], int] = field(default_factory=dict)
    weight: int = 0


class Uncommitted:
    """Record ages counted by the tasks of one run, kept by batch until the batch is committed."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self._weight = 0
        self._told = -1
        self.lost_records = 0

    def add(self, task: TaskLatencies) -> bool:
        """Returns False if the task comes too late: its batch was already committed without it."""
        if task.batch_id <= self._told:
            return False
        weight = WEIGHT_OF_A_TASK + len(task.ages.counts)
        if not self._make_room(weight, for_batch=task.batch_id):
            self.lost_records += task.ages.count
            return True
        held = self._held.setdefault(task.batch_id, _Held())
        speaker = held.attempts.setdefault((task.stage_id, task.partition), task.attempt_id)
        if speaker == task.attempt_id:
            indexes, counts = zip(*sorted(task.ages.counts.items()), strict=True)
            held.ages.append(_Ages(task.reference_us, array("H", indexes), counts))
            held.weight += weight
            self._weight += weight
        return True

    def commit(self, batches: Iterable[Batch]) -> Histogram:
        """Returns the batches' committed latencies. Call once per batch, in Spark's order."""
        counts: dict[int, int] = defaultdict(int)
        for batch in batches:
            for ages in self._take(batch.batch_id):
                _add_committed(ages, batch.end_ms * 1000, counts)
        return Histogram(counts)

    def _take(self, batch_id: int) -> list[_Ages]:
        self._told = max(self._told, batch_id)
        # Batches are committed in order: the progress event of an earlier one never reached us.
        for missed in [held for held in self._held if held < batch_id]:
            self._lose(self._pop(missed))
        return self._pop(batch_id)

    def _pop(self, batch_id: int) -> list[_Ages]:
        held = self._held.pop(batch_id, _Held())
        self._weight -= held.weight
        return held.ages

    def _make_room(self, weight: int, for_batch: int) -> bool:
        while self._weight + weight > MOST_WEIGHT:
            if (oldest := min(self._held, default=for_batch)) >= for_batch:
                return False
            self._lose(self._pop(oldest))
        return True

    def _lose(self, forgotten: Iterable[_Ages]) -> None:
        self.lost_records += sum(ages.records for ages in forgotten)


def _add_committed(ages: _Ages, commit_us: int, counts: dict[int, int]) -> None:
    later_us = commit_us - ages.reference_us
    at, highest_us = 0, -1
    for index, count in zip(ages.indexes, ages.counts, strict=True):
        us = _AGES_US[index] + later_us
        # Ages ascend and several fine buckets fall into one coarse bucket: look it up only once.
        if us > highest_us:
            at = index_of(us)
            highest_us = ORDINARY.bounds_us(at)[1]
        counts[at] += count

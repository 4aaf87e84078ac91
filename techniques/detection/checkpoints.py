"""Flushes and compactions by operator and checkpoint: the paper's Table 1, and what is in phase.

A checkpoint is what one operator flushes in one micro-batch. Compactions belong to the checkpoint
whose flush set them off: the last that began before them.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from techniques.detection import latency
from techniques.intervals import NONE, Floats, Intervals, Ints
from techniques.view import WINDOW_MS, View

# Separates checkpoints while their batch is not known yet: the flushes of one commit follow each
# other more closely than commits do.
GAP_MS = 300
IN_PHASE_SHARE = 0.75
HEAVY = 0.25


@dataclass(frozen=True)
class Checkpoint:
    start_ms: float
    end_ms: float
    flushes: Intervals
    compactions: Intervals

    @property
    def compacting(self) -> set[int | None]:
        return {each.partition for each in self.compactions}


@dataclass(frozen=True, eq=False)
class Stage:
    """One stateful operator. Arrays have one row per checkpoint; the flushes and compactions of
    checkpoint n begin at the indices `flushes_from[n]` and `compactions_from[n]`."""

    operator: int
    instances: int
    flushes: Intervals
    compactions: Intervals
    flushes_from: Ints
    compactions_from: Ints
    starts_ms: Floats
    ends_ms: Floats
    compacting: Ints

    @cached_property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        return self.last_checkpoints(len(self.starts_ms))

    def last_checkpoints(self, count: int) -> tuple[Checkpoint, ...]:
        flushes = [*self.flushes_from.tolist(), len(self.flushes)]
        compactions = [*self.compactions_from.tolist(), len(self.compactions)]
        return tuple(
            Checkpoint(
                float(self.starts_ms[at]),
                float(self.ends_ms[at]),
                self.flushes[flushes[at] : flushes[at + 1]],
                self.compactions[compactions[at] : compactions[at + 1]],
            )
            for at in range(max(0, len(self.starts_ms) - count), len(self.starts_ms))
        )

    @cached_property
    def in_phase(self) -> list[int]:
        """Checkpoints at which most instances compact."""
        most = self.compacting >= max(2, IN_PHASE_SHARE * self.instances)
        found: list[int] = np.flatnonzero(most).tolist()
        return found

    @cached_property
    def bursts_ms(self) -> Floats:
        """A row per checkpoint in phase: start of its first compaction, end of its last."""
        edges = np.append(self.compactions_from, len(self.compactions))
        return np.array(
            [
                (
                    self.compactions.start_ms[edges[at] : edges[at + 1]].min(),
                    self.compactions.end_ms[edges[at] : edges[at + 1]].max(),
                )
                for at in self.in_phase
            ]
        ).reshape(-1, 2)

    @cached_property
    def occurrences_ms(self) -> Floats:
        """A row per checkpoint in phase: start of its first flush, end of its last compaction."""
        return np.column_stack((self.starts_ms[self.in_phase], self.bursts_ms[:, 1]))

    def meets(self, other: "Stage") -> NDArray[np.bool_]:
        """For each burst of this stage, whether one of the other stage overlaps it."""
        return np.asarray(self._overlaps(other).any(axis=1))

    def meetings_ms(self, other: "Stage") -> Floats:
        """A row per overlapping burst: first flush and last compaction of either stage."""
        overlaps = self._overlaps(other)
        own, theirs = self.occurrences_ms, other.occurrences_ms
        starts = np.where(overlaps, theirs[:, 0], np.inf).min(axis=1)
        ends = np.where(overlaps, theirs[:, 1], -np.inf).max(axis=1)
        both = np.column_stack((np.minimum(own[:, 0], starts), np.maximum(own[:, 1], ends)))
        return both[self.meets(other)]

    def _overlaps(self, other: "Stage") -> NDArray[np.bool_]:
        """A matrix of this stage's bursts by the other's. Background threads are few, so one burst
        may wait for the other: bursts up to `GAP_MS` apart still count as overlapping."""
        starts, ends = self.bursts_ms[:, :1], self.bursts_ms[:, 1:]
        theirs = other.bursts_ms
        return (theirs[:, 0] < ends + GAP_MS) & (theirs[:, 1] > starts - GAP_MS)

    def weighs(self, other: "Stage") -> bool:
        """Whether its compactions matter beside the other's, by the bytes they read: their
        duration depends on what else uses the CPU."""
        return int(self.compactions.input_bytes.sum()) >= HEAVY * int(
            other.compactions.input_bytes.sum()
        )

    @cached_property
    def period(self) -> int | None:
        """The number of checkpoints from one in phase to the next; None if it is not regular."""
        found = self.in_phase
        steps = [later - earlier for earlier, later in pairwise(found)]
        if not steps:
            return None
        usual = round(median(steps))
        regular = sum(abs(step - usual) <= 1 for step in steps)
        return usual if usual >= 1 and regular >= 0.75 * len(steps) else None

    @cached_property
    def step_ms(self) -> float | None:
        """The median time from checkpoint to checkpoint."""
        return self.lasts_ms(1)

    def lasts_ms(self, checkpoints: int) -> float | None:
        """The median time of so many checkpoints: no multiple of `step_ms`, as some are slow."""
        apart = self.starts_ms[checkpoints:] - self.starts_ms[:-checkpoints]
        return float(np.median(apart)) if len(apart) else None


def stages(view: View) -> list[Stage]:
    return view.once(_stages)


def spans(view: View, stage: Stage) -> list[tuple[int, int]]:
    """For each checkpoint the windows in which its latency counts, as [first, after the last): up
    to `latency.REACH` after its end, but not into the next checkpoint. Empty if not in the view."""
    until_ms = np.append(stage.starts_ms[1:], np.inf) - WINDOW_MS
    reach_ms = np.minimum(stage.ends_ms + latency.REACH * WINDOW_MS, until_ms)
    first = (stage.starts_ms - view.start_ms) // WINDOW_MS
    after = (reach_ms - view.start_ms) // WINDOW_MS + 1
    clipped = np.clip(np.stack((first, after)), 0, len(view)).astype(np.int64)
    return list(zip(*clipped.tolist(), strict=True))


def table(stage: Stage, rows: int) -> list[dict[str, float | int | str]]:
    """Table 1 of the paper: a row for each of the last `rows` checkpoints."""
    return [
        {
            "operator": stage.operator,
            "checkpoint_ms": round(checkpoint.start_ms),
            "flushes": len(checkpoint.flushes),
            "flush_ms": _mean_ms(checkpoint.flushes),
            "flush_mb": _mb(checkpoint.flushes),
            "compactions": len(checkpoint.compactions),
            "compaction_ms": _mean_ms(checkpoint.compactions),
            "compaction_mb": _mb(checkpoint.compactions),
        }
        for checkpoint in stage.last_checkpoints(rows)
    ]


def _stages(view: View) -> list[Stage]:
    flushes, compactions, batches = view.of("flush"), view.of("compaction"), view.of("batch")
    operators = sorted(set(flushes.operator.tolist()) - {NONE})
    return [
        _stage(
            operator,
            flushes[flushes.operator == operator],
            compactions[compactions.operator == operator],
            batches,
        )
        for operator in operators
    ]


def _stage(operator: int, flushes: Intervals, compactions: Intervals, batches: Intervals) -> Stage:
    flushes_from = np.concatenate(([0], np.flatnonzero(_begins(flushes, batches)) + 1))
    starts_ms = flushes.start_ms[flushes_from]
    ends_ms = np.maximum.reduceat(flushes.end_ms, flushes_from)
    # Flushes and compactions are sorted by start, so those of one checkpoint are adjacent.
    compactions = compactions[np.searchsorted(compactions.start_ms, starts_ms[0]) :]
    belongs_to = np.searchsorted(starts_ms, compactions.start_ms, side="right") - 1
    np.maximum.at(ends_ms, belongs_to, compactions.end_ms)
    # Count each partition once per checkpoint, however often it compacted there.
    partitions, numbers = np.unique(compactions.partition, return_inverse=True)
    pairs = np.unique(belongs_to * max(1, len(partitions)) + numbers)
    return Stage(
        operator=operator,
        instances=len(np.unique(flushes.partition)),
        flushes=flushes,
        compactions=compactions,
        flushes_from=flushes_from,
        compactions_from=np.searchsorted(belongs_to, np.arange(len(starts_ms))),
        starts_ms=starts_ms,
        ends_ms=ends_ms,
        compacting=np.bincount(pairs // max(1, len(partitions)), minlength=len(starts_ms)),
    )


def _begins(flushes: Intervals, batches: Intervals) -> NDArray[np.bool_]:
    """For each flush after the first, whether it begins a checkpoint. On a slow disk the flushes of
    one commit are seconds apart, so the micro-batches decide; the running one is not known yet, so
    there the gap between flushes does."""
    apart = flushes.start_ms[1:] > np.maximum.accumulate(flushes.end_ms)[:-1] + GAP_MS
    if not len(batches):
        return np.asarray(apart)
    number = np.searchsorted(batches.start_ms, flushes.start_ms, side="right")
    untold = flushes.start_ms[1:] > batches.end_ms.max()
    return np.asarray((np.diff(number) > 0) | (apart & untold))


def _mean_ms(intervals: Intervals) -> float:
    return round(fmean(each.duration_ms for each in intervals), 1) if intervals else 0.0


def _mb(intervals: Intervals) -> float:
    return round(sum(each.input_bytes or 0 for each in intervals) / 1e6, 2)

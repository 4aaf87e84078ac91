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

# Where nobody has told of the batch yet: flushes of a commit follow each other closer than commits.
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
    """One stateful operator. A row of an array is a checkpoint; those of flushes and compactions
    that begin at `flushes_from[n]` and `compactions_from[n]` are the n-th's."""

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
        """Of each checkpoint in phase, a row: its first compaction begins, its last one ends."""
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
        """The same, from the first flush of the checkpoint on."""
        return np.column_stack((self.starts_ms[self.in_phase], self.bursts_ms[:, 1]))

    def meets(self, other: "Stage") -> NDArray[np.bool_]:
        """Which of its bursts another stage's meet."""
        return np.asarray(self._overlaps(other).any(axis=1))

    def meetings_ms(self, other: "Stage") -> Floats:
        """A row for each of them: the first flush of either begins, the last compaction ends."""
        overlaps = self._overlaps(other)
        own, theirs = self.occurrences_ms, other.occurrences_ms
        starts = np.where(overlaps, theirs[:, 0], np.inf).min(axis=1)
        ends = np.where(overlaps, theirs[:, 1], -np.inf).max(axis=1)
        both = np.column_stack((np.minimum(own[:, 0], starts), np.maximum(own[:, 1], ends)))
        return both[self.meets(other)]

    def _overlaps(self, other: "Stage") -> NDArray[np.bool_]:
        """Own bursts by theirs. Background threads are few, so one burst may wait for the other: a
        gap as between the flushes of one commit is no gap."""
        starts, ends = self.bursts_ms[:, :1], self.bursts_ms[:, 1:]
        theirs = other.bursts_ms
        return (theirs[:, 0] < ends + GAP_MS) & (theirs[:, 1] > starts - GAP_MS)

    def weighs(self, other: "Stage") -> bool:
        """Whether its compactions matter beside the other's: by what they read, for how long they
        take depends on who else takes the CPU."""
        return int(self.compactions.input_bytes.sum()) >= HEAVY * int(
            other.compactions.input_bytes.sum()
        )

    @cached_property
    def period(self) -> int | None:
        """Every how many checkpoints that is so; None where it is not regular."""
        found = self.in_phase
        steps = [later - earlier for earlier, later in pairwise(found)]
        if not steps:
            return None
        usual = round(median(steps))
        regular = sum(abs(step - usual) <= 1 for step in steps)
        return usual if usual >= 1 and regular >= 0.75 * len(steps) else None

    @cached_property
    def step_ms(self) -> float | None:
        """From checkpoint to checkpoint."""
        return self.lasts_ms(1)

    def lasts_ms(self, checkpoints: int) -> float | None:
        """From one to the so-manieth after it: not so many times a step, where some are slow."""
        apart = self.starts_ms[checkpoints:] - self.starts_ms[:-checkpoints]
        return float(np.median(apart)) if len(apart) else None


def stages(view: View) -> list[Stage]:
    return view.once(_stages)


def spans(view: View, stage: Stage) -> list[tuple[int, int]]:
    """Each checkpoint with what follows it, as windows of the view: as long as its latency counts,
    and not into the next one, whose latency is the next one's. One per checkpoint, empty where it
    is not in the view."""
    until_ms = np.append(stage.starts_ms[1:], np.inf) - WINDOW_MS
    reach_ms = np.minimum(stage.ends_ms + latency.REACH * WINDOW_MS, until_ms)
    first = (stage.starts_ms - view.start_ms) // WINDOW_MS
    after = (reach_ms - view.start_ms) // WINDOW_MS + 1
    clipped = np.clip(np.stack((first, after)), 0, len(view)).astype(np.int64)
    return list(zip(*clipped.tolist(), strict=True))


def table(stage: Stage, rows: int) -> list[dict[str, float | int | str]]:
    """Table 1 of the paper for the last so many checkpoints, a row each."""
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
    # Both are by their start, so those of a checkpoint follow each other.
    compactions = compactions[np.searchsorted(compactions.start_ms, starts_ms[0]) :]
    belongs_to = np.searchsorted(starts_ms, compactions.start_ms, side="right") - 1
    np.maximum.at(ends_ms, belongs_to, compactions.end_ms)
    # Each partition once per checkpoint, however often it compacted there.
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
    """Which flushes, of those after the first, begin a checkpoint. A slow disk keeps the flushes of
    one commit seconds apart, so the batches tell; of the one that still runs nobody has told."""
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

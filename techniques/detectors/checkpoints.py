"""Flushes and compactions by operator and checkpoint: the paper's Table 1, and what is in phase.

A checkpoint is a cluster of flushes of one operator. Compactions belong to the checkpoint whose
flush set them off: the last that began before them.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, median

from techniques.detectors import latency
from techniques.view import WINDOW_MS, Interval, View

# Flushes of one commit follow each other closer than commits do.
GAP_MS = 300
IN_PHASE_SHARE = 0.75


@dataclass
class Checkpoint:
    flushes: list[Interval] = field(default_factory=list)
    compactions: list[Interval] = field(default_factory=list)

    @property
    def start_ms(self) -> float:
        return self.flushes[0].start_ms

    @property
    def end_ms(self) -> float:
        return max(each.end_ms for each in (*self.flushes, *self.compactions))

    @property
    def compacting(self) -> set[int | None]:
        return {each.partition for each in self.compactions}


@dataclass(frozen=True)
class Stage:
    """One stateful operator."""

    operator: int
    instances: int
    checkpoints: tuple[Checkpoint, ...]

    @property
    def in_phase(self) -> list[int]:
        """Checkpoints at which most instances compact."""
        return [
            number
            for number, checkpoint in enumerate(self.checkpoints)
            if len(checkpoint.compacting) >= max(2, IN_PHASE_SHARE * self.instances)
        ]

    @property
    def period(self) -> int | None:
        """Every how many checkpoints that is so; None where it is not regular."""
        found = self.in_phase
        steps = [later - earlier for earlier, later in pairwise(found)]
        if not steps:
            return None
        usual = round(median(steps))
        regular = sum(abs(step - usual) <= 1 for step in steps)
        return usual if usual >= 1 and regular >= 0.75 * len(steps) else None

    @property
    def step_ms(self) -> float | None:
        """From checkpoint to checkpoint."""
        starts = [checkpoint.start_ms for checkpoint in self.checkpoints]
        steps = [later - earlier for earlier, later in pairwise(starts)]
        return median(steps) if steps else None


def stages(view: View) -> list[Stage]:
    flushes = _by_operator(view.of("flush"))
    compactions = _by_operator(view.of("compaction"))
    return [
        _stage(operator, found, compactions.get(operator, []))
        for operator, found in sorted(flushes.items())
    ]


def spans(view: View, stage: Stage) -> list[tuple[int, int]]:
    """Each checkpoint with what follows it, as windows of the view: as long as its latency counts,
    and not into the next one, whose latency is the next one's."""
    starts = [each.start_ms for each in stage.checkpoints]
    ends = [*starts[1:], float("inf")]
    reach_ms = latency.REACH * WINDOW_MS
    return view.windows(
        Interval("", each.start_ms, min(each.end_ms + reach_ms, until_ms - WINDOW_MS))
        for each, until_ms in zip(stage.checkpoints, ends, strict=True)
    )


def table(stage: Stage) -> list[dict[str, float | int | str]]:
    """Table 1 of the paper for the checkpoints given, a row each."""
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
        for checkpoint in stage.checkpoints
    ]


def _stage(operator: int, flushes: list[Interval], compactions: list[Interval]) -> Stage:
    found: list[Checkpoint] = []
    until_ms = float("-inf")
    for flush in flushes:
        if flush.start_ms > until_ms + GAP_MS:
            found.append(Checkpoint())
        found[-1].flushes.append(flush)
        until_ms = max(until_ms, flush.end_ms)
    starts = [checkpoint.start_ms for checkpoint in found]
    for compaction in compactions:
        at = bisect_right(starts, compaction.start_ms) - 1
        if at >= 0:
            found[at].compactions.append(compaction)
    instances = len({flush.partition for flush in flushes})
    return Stage(operator, instances, tuple(found))


def _by_operator(intervals: list[Interval]) -> dict[int, list[Interval]]:
    found: dict[int, list[Interval]] = {}
    for interval in intervals:
        if interval.operator is not None:
            found.setdefault(interval.operator, []).append(interval)
    return found


def _mean_ms(intervals: list[Interval]) -> float:
    return round(fmean(each.duration_ms for each in intervals), 1) if intervals else 0.0


def _mb(intervals: list[Interval]) -> float:
    return round(sum(each.input_bytes or 0 for each in intervals) / 1e6, 2)

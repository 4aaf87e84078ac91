"""Whether a move brought what was predicted, and what it cost.

The stages before the move are compared with those after it, without the first, in which the
partition loaded its state. A larger or smaller input changes the times of all partitions alike: the
median over those that stayed is taken out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from techniques.state_balancing.cluster import usual_times_ms
from techniques.state_balancing.memory import Move, Verdict
from techniques.state_balancing.prediction import LEAST_GAIN
from techniques.state_balancing.stages import Stage

FEWEST_STAGES = 3


@dataclass(frozen=True)
class Judged:
    """The move with its verdict; `cost_ms` is how much longer its first task took, if known."""

    move: Move
    cost_ms: float | None = None


def judged(move: Move, known: Sequence[Stage], now_ms: float, patience_ms: float) -> Judged:
    """The verdict on a move by the whole stateful stages that are known; the move itself while it
    is too early for one."""
    since = [stage for stage in known if stage.start_ms >= move.at_ms]
    first = {kind: at for at, kind in _arrivals(move, since)}
    after = [stage for stage in since if stage.start_ms > first.get(stage.kind, float("inf"))]
    if not first or _fewest(after) < FEWEST_STAGES:
        given_up = now_ms - move.at_ms >= patience_ms and _fewest(since) > FEWEST_STAGES
        return Judged(replace(move, verdict=Verdict.FAILED) if given_up and not first else move)
    before = [stage for stage in known if move.since_ms <= stage.start_ms < move.at_ms]
    if not before:
        return Judged(replace(move, verdict=Verdict.PAID))
    return _compared(move, before, since, after)


def _compared(
    move: Move, before: Sequence[Stage], since: Sequence[Stage], after: Sequence[Stage]
) -> Judged:
    load = _load(before, after)
    was_ms, is_ms = (_finish_ms(each, move) for each in (before, after))
    gained = 1 - is_ms / (was_ms * load) if was_ms > 0 else 0.0
    here, _ = usual_times_ms(before, move.partition, move.source)
    there, opening = usual_times_ms(since, move.partition, move.target)
    expected_ms = sum(here.values()) * move.ratio * load
    surprise = sum(there.values()) / expected_ms if expected_ms > 0 else 1.0
    verdict = Verdict.PAID if gained >= move.gain / 2 else Verdict.FAILED
    if gained <= -LEAST_GAIN:
        verdict = Verdict.WORSE
    cost_ms = sum(opening.values()) - sum(there.values())
    return Judged(replace(move, verdict=verdict, surprise=surprise or 1.0), max(0.0, cost_ms))


def _arrivals(move: Move, since: Sequence[Stage]) -> list[tuple[float, int]]:
    """The first stage of each kind in which the partition ran where it was sent, and its start."""
    found: dict[int, float] = {}
    for stage in since:
        if any(t.partition == move.partition and t.executor == move.target for t in stage.tasks):
            found.setdefault(stage.kind, stage.start_ms)
    return [(start_ms, kind) for kind, start_ms in found.items()]


def _fewest(among: Sequence[Stage]) -> int:
    """How many stages there are of the kind that has the fewest."""
    kinds = [stage.kind for stage in among]
    return min((kinds.count(kind) for kind in set(kinds)), default=0)


def _finish_ms(among: Sequence[Stage], move: Move) -> float:
    by_kind: dict[int, list[float]] = {}
    for stage in among:
        by_kind.setdefault(stage.kind, []).append(stage.finish_ms((move.source, move.target)))
    return sum(median(each) for each in by_kind.values())


def _load(before: Sequence[Stage], after: Sequence[Stage]) -> float:
    """How many times as long the partitions take now that stayed where they were."""
    times = [_times(each) for each in (before, after)]
    ratios = [
        median(times[1][key]) / median(durations)
        for key, durations in times[0].items()
        if key in times[1] and median(durations) > 0
    ]
    return (median(ratios) if ratios else 1.0) or 1.0


def _times(among: Sequence[Stage]) -> dict[tuple[int, int, str], list[float]]:
    found: dict[tuple[int, int, str], list[float]] = {}
    for stage in among:
        for task in stage.tasks:
            key = stage.kind, task.partition, task.executor
            found.setdefault(key, []).append(task.duration_ms)
    return found

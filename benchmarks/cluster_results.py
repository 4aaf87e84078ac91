"""What the blocks of a regime add up to: ratios to *off* with their spread, moves and copies.

Percentiles are of all batches (or records) of an arm's blocks together: of one block of 40 batches,
p99 would be its slowest batch. Rounds that lack one of the two arms do not count. The 95 % interval
comes from resampling rounds (bootstrap), as batches of one round have more in common than with
those of another.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.cluster_figures import Figures
from benchmarks.cluster_regimes import OFF
from benchmarks.ratios import Interval
from collectors.formats import buckets

RESAMPLES = 1_000
# From fewer rounds, resampling draws the same few sums again and again.
FEWEST_ROUNDS = 3
DIGITS = 3

Pairs = Sequence[tuple[Figures, Figures]]
Level = Callable[[Sequence[Figures]], float]


def batch_ms(quantile: float) -> Level:
    def level(blocks: Sequence[Figures]) -> float:
        return float(np.quantile([ms for each in blocks for ms in each.batch_ms], quantile))

    return level


def latency_ms(quantile: float) -> Level:
    def level(blocks: Sequence[Figures]) -> float:
        (us,) = buckets.merged(each.latency for each in blocks).quantiles_us((quantile,))
        return float("nan") if us is None else us / 1000

    return level


LEVELS: Mapping[str, Level] = {
    "p50_batch": batch_ms(0.5),
    "p99_batch": batch_ms(0.99),
    "p999_latency": latency_ms(0.999),
}


def of_arm(figures: Sequence[Figures], arm: str) -> dict[str, Any] | None:
    """Ratios of the arm to *off*; None if no round has both."""
    pairs = in_rounds(figures, arm)
    if not pairs:
        return None
    found: dict[str, Any] = {}
    for name, level in LEVELS.items():
        found |= keyed(f"{name}_ratio", ratio(pairs, level))
    return {**found, "rounds": len(pairs)}


def of_copies(figures: Sequence[Figures], arm: str) -> dict[str, Any]:
    """`cost` is the time of copies by the time of all other tasks."""
    own = [each for each in figures if each.arm == arm]
    copies, task_ms = sum(each.copies for each in own), sum(each.task_ms for each in own)
    return {
        "cost": _rounded(sum(each.copy_ms for each in own) / task_ms) if task_ms else None,
        "copies": copies,
        "copies_per_task": _rounded(copies / (sum(each.tasks for each in own) or 1)),
        "won": _rounded(sum(each.copies_won for each in own) / copies) if copies else None,
    }


def of_moves(figures: Sequence[Figures], arm: str) -> dict[str, Any]:
    """`moves` and `settle_s` are means over blocks, `move_cost_ms` the median over moves; `cost` is
    the time that moves added by the time of all tasks of the batches that count."""
    own = [each for each in figures if each.arm == arm]
    costs_ms = [move.cost_ms for each in own for move in each.moves if move.cost_ms is not None]
    settled = [each.settle_s for each in own if each.settle_s is not None]
    task_ms = sum(each.task_ms for each in own)
    return {
        "cost": _rounded(sum(costs_ms) / task_ms) if task_ms else None,
        "moves": _rounded(fmean(len(each.moves) for each in own)) if own else None,
        "settle_s": _rounded(fmean(settled)) if settled else None,
        "move_cost_ms": _rounded(median(costs_ms)) if costs_ms else None,
    }


def levels_ms(figures: Sequence[Figures]) -> dict[str, dict[str, float]]:
    """Of each arm, over all its blocks."""
    arms = list(dict.fromkeys(each.arm for each in figures))
    return {
        arm: {
            name: round(level([each for each in figures if each.arm == arm]), 1)
            for name, level in LEVELS.items()
        }
        for arm in arms
    }


def in_rounds(figures: Sequence[Figures], arm: str) -> list[tuple[Figures, Figures]]:
    """The blocks of the arm and of *off*, of each round that has both."""
    by_round: dict[int, dict[str, Figures]] = {}
    for each in figures:
        by_round.setdefault(each.round, {})[each.arm] = each
    return [
        (blocks[arm], blocks[OFF])
        for blocks in by_round.values()
        if arm in blocks and OFF in blocks
    ]


def ratio(pairs: Pairs, level: Level, seed: int = 0) -> Interval:
    """The level of the first of all pairs by that of the second; bounds need several rounds."""
    middle = _ratio(pairs, level)
    if len(pairs) < FEWEST_ROUNDS:
        return Interval(middle, None, None)
    numbers = np.random.default_rng(seed)
    drawn = [
        _ratio([pairs[at] for at in numbers.integers(len(pairs), size=len(pairs))], level)
        for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(middle, float(low), float(high))


def keyed(name: str, interval: Interval) -> dict[str, float | None]:
    mean, low, high = interval.rounded(DIGITS)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def _ratio(pairs: Pairs, level: Level) -> float:
    return level([one for one, _ in pairs]) / level([other for _, other in pairs])


def _rounded(value: float) -> float:
    return round(value, DIGITS)

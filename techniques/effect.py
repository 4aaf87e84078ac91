"""What a switch changed: ratios of percentiles after / before, with a confidence interval.

Neighbouring records wait for the same things, so single latencies are no independent samples. Time
is cut into blocks of ten seconds, each block gives one percentile, and the interval comes from
resampling blocks (bootstrap, 95 %). A ratio whose interval contains 1 shows no effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_MS = 10_000
FEWEST_BLOCKS = 3
RESAMPLES = 1_000


@dataclass(frozen=True)
class Ratio:
    """after / before; the bounds `low` and `high` are None with too few blocks."""

    ratio: float
    low: float | None
    high: float | None


def ratio(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Ratio | None:
    """The ratio of the mean percentile of blocks; None if one side has no blocks."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (before, after))
    first, second = first[first > 0], second[second > 0]
    if not len(first) or not len(second):
        return None
    middle = float(second.mean() / first.mean())
    if min(len(first), len(second)) < FEWEST_BLOCKS:
        return Ratio(middle, None, None)
    random = np.random.default_rng(seed)
    drawn = _means(random, second) / _means(random, first)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Ratio(middle, float(low), float(high))


def _means(random: np.random.Generator, blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    drawn: NDArray[np.float64] = random.choice(blocks, (RESAMPLES, len(blocks))).mean(axis=1)
    return drawn

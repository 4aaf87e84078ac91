"""Means over pairs with a 95 % interval, for benchmarks that compare two ways of one thing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

# Student's t, 97.5 %, for 1 to 15 degrees of freedom; beyond that the normal quantile will do.
_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)
_NORMAL = 1.96


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval; the bounds are None for a single pair."""

    mean: float
    low: float | None
    high: float | None

    def contains(self, value: float) -> bool:
        return self.low is None or self.high is None or self.low <= value <= self.high

    def rounded(self, digits: int) -> tuple[float, float | None, float | None]:
        mean, low, high = (
            None if value is None else round(value, digits)
            for value in (self.mean, self.low, self.high)
        )
        assert mean is not None
        return mean, low, high


def mean_of(values: Sequence[float]) -> Interval:
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean, None, None)
    freedom = len(values) - 1
    t = _T[freedom - 1] if freedom <= len(_T) else _NORMAL
    half = t * stdev(values) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Interval:
    """The geometric mean of first / second: twice as much and half as much cancel out."""
    logs = mean_of([math.log(first / second) for first, second in pairs])
    low, high = (None if bound is None else math.exp(bound) for bound in (logs.low, logs.high))
    return Interval(math.exp(logs.mean), low, high)

"""Statistical tests: each returns the p-value that a finding is held against."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from techniques.view import Floats

Mask = NDArray[np.bool_] | Floats

# The largest n · m with exact counts: up to 20 against 20 they are exact in a double.
MOST_EXACT = 400


def at_least(hits: int, tries: int, share: float) -> float:
    """P(X ≥ hits) for X ~ Binomial(tries, share): exact."""
    if hits <= 0:
        return 1.0
    return min(
        1.0,
        sum(
            math.comb(tries, k) * share**k * (1 - share) ** (tries - k)
            for k in range(hits, tries + 1)
        ),
    )


def same_phase(together: int, instances: int, period: int) -> float:
    """The probability that at least `together` of the instances share a phase if each has an
    independent uniform one of `period`: exact up to the union bound over the phases."""
    if period < 1 or instances < 1:
        return 1.0
    return min(1.0, period * at_least(together, instances, 1 / period))


def as_high(these: Floats, others: Floats) -> float:
    """The p-value that values like `others` have a mean as high as `these`.

    Latency has heavy tails and neighbouring values are correlated, so a normal distribution would
    give p-values that are too small: Student's t with three degrees of freedom is used for any
    number of values.
    """
    middle = float(np.median(others))
    apart = float(np.median(np.abs(others - middle))) * 1.4826
    spread = max(apart, float(others.std()), 1e-9) * math.sqrt(1 / len(these) + 1 / len(others))
    t = (float(these.mean()) - middle) / spread / math.sqrt(3)
    return max(0.0, 0.5 - (t / (1 + t * t) + math.atan(t)) / math.pi)


def as_far(these: Floats, others: Floats) -> float:
    """The p-value (Student's t) that further values like `others` have a mean as high as `these`.
    The spread is that of `others` alone: a few of `these` that happen to be alike say nothing."""
    from scipy.special import stdtr  # takes half a second to import, and few jobs need it

    n, m = len(these), len(others)
    spread = max(float(others.std(ddof=1)), 1e-9) * math.sqrt(1 / n + 1 / m)
    return float(stdtr(m - 1, -(float(these.mean()) - float(others.mean())) / spread))


def rank_sum(these: Floats, others: Floats) -> float:
    """The p-value that values like `others` rank as high as `these` (Mann–Whitney, one-sided):
    exact for few values, where it matters, and the normal approximation for many."""
    n, m = len(these), len(others)
    ranks = np.argsort(np.argsort(np.concatenate((these, others)), kind="stable"), kind="stable")
    wins = int(ranks[:n].sum()) - n * (n - 1) // 2
    if n * m <= MOST_EXACT:
        ways = _ways(n, m)
        return float(ways[wins:].sum() / ways.sum())
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc((wins - n * m / 2) / spread / math.sqrt(2)) / 2


@cache
def _ways(n: int, m: int) -> Floats:
    """For each value of Mann and Whitney's U, the number of orders of n and m values that have it:
    the coefficients of the Gaussian binomial, whole numbers that a double still holds."""
    ways = np.zeros(n * m + 1)
    ways[0] = 1
    for i in range(1, n + 1):
        if m + i <= n * m:
            ways[m + i :] -= ways[: -(m + i)].copy()
        for first in range(i):
            ways[first::i] = np.cumsum(ways[first::i])
    return ways


def rises(values: Floats) -> int:
    """Mann and Kendall's S: the number of pairs that rise less the number that fall.

    Counted by halves (each half, then the second against the sorted first): an hour has millions
    of pairs."""
    half = len(values) // 2
    if len(values) <= 64:
        return int(np.triu(np.sign(values[None, :] - values[:, None]), 1).sum())
    before, after = np.sort(values[:half]), values[half:]
    below = np.searchsorted(before, after, side="left").sum()
    not_above = np.searchsorted(before, after, side="right").sum()
    across = int(below + not_above) - len(before) * len(after)
    return rises(values[:half]) + rises(after) + across


def spans(mask: Mask, join: int = 0) -> list[tuple[int, int]]:
    """Stretches in which the mask is set, as [first, after the last); gaps up to `join` closed."""
    set_ = np.flatnonzero(mask > 0)
    if not len(set_):
        return []
    breaks = np.flatnonzero(np.diff(set_) > join + 1)
    firsts = set_[np.concatenate(([0], breaks + 1))]
    lasts = set_[np.concatenate((breaks, [len(set_) - 1]))]
    return [(int(first), int(last) + 1) for first, last in zip(firsts, lasts, strict=True)]

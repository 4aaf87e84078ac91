"""Two ranges of a job, or two jobs: how the percentiles shifted, with 95 % intervals.

Percentiles come from merged buckets, never from averages of percentiles. Neighbouring minutes are
alike, so the bootstrap draws blocks of minutes (Künsch 1989), at least ten minutes long and at most
a hundred per range. A shift whose interval contains 1 is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.intervals import Floats

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
BLOCK_MINUTES, MOST_BLOCKS, FEWEST_BLOCKS = 10, 100, 3
RESAMPLES = 1_000
# As `collectors.formats.buckets`: without the slack 0.999 × 1000 would ask for rank 1000.
SLACK = 1e-9


@dataclass(frozen=True)
class Shift:
    """A percentile before and after, and after / before with its interval; the bounds are None if
    a range has too few blocks of minutes."""

    quantile: str
    before: float
    after: float
    ratio: float
    low: float | None
    high: float | None

    @property
    def shifted(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


def compare(before: Floats, after: Floats, middles: Floats, seed: int = 0) -> tuple[Shift, ...]:
    """Rows are minutes, columns are buckets, ascending, with the values `middles`; no shifts if one
    side has no records."""
    if not before.sum() or not after.sum():
        return ()
    random = np.random.default_rng(seed)
    first, second = _blocks(before), _blocks(after)
    drawn = None
    if min(len(first), len(second)) >= FEWEST_BLOCKS:
        drawn = quantiles(_resampled(second, random), middles) / quantiles(
            _resampled(first, random), middles
        )
    return tuple(
        Shift(name, was, now, now / was, *_interval(None if drawn is None else drawn[:, at]))
        for at, (name, was, now) in enumerate(
            zip(
                QUANTILES,
                quantiles(before.sum(axis=0, keepdims=True), middles)[0].tolist(),
                quantiles(after.sum(axis=0, keepdims=True), middles)[0].tolist(),
                strict=True,
            )
        )
    )


def quantiles(rows: Floats, middles: Floats) -> Floats:
    """The quantiles of each row of counts, by nearest rank."""
    ranks = np.cumsum(rows, axis=1)
    wanted = np.maximum(1, np.ceil(ranks[:, -1:] * np.array(list(QUANTILES.values())) - SLACK))
    places = (ranks[:, None, :] < wanted[:, :, None]).sum(axis=2)
    # A bucket of 0 µs holds what is too short to measure: it must not divide by zero.
    found: Floats = np.maximum(middles[places], 0.5)
    return found


def _blocks(minutes: Floats) -> Floats:
    """Sums of consecutive minutes; those without a record are left out first."""
    minutes = minutes[minutes.sum(axis=1) > 0]
    size = max(BLOCK_MINUTES, -(-len(minutes) // MOST_BLOCKS))
    starts: Sequence[int] = range(0, len(minutes), size)
    sums: Floats = np.add.reduceat(minutes, list(starts), axis=0)
    return sums


def _resampled(blocks: Floats, random: np.random.Generator) -> Floats:
    size = len(blocks)
    times = random.multinomial(size, np.full(size, 1 / size), RESAMPLES)
    sums: Floats = times.astype(np.float64) @ blocks
    return sums


def _interval(drawn: Floats | None) -> tuple[float | None, float | None]:
    if drawn is None:
        return None, None
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)

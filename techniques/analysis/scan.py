"""Where p99 is raised in weeks of one-second roll-ups, as ranges to look at closely.

Detectors read 50 ms windows, and a week of one job has twelve million of them. Latency that is as
always needs no second look, so this finds the seconds whose p99 stands out of its surroundings,
in one pass over arrays. It may call a quiet second raised (the detectors will find nothing there),
it should not miss a raised one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from techniques.detection import chance
from techniques.intervals import Floats, Ints

STEP_MS = 1_000
HOUR_MS = 3_600_000
# The usual p99 is that of a block of ten minutes and its neighbours.
BLOCK_S = 600
NEIGHBOURS = 3
# Raised is this much above usual, and beyond what the job's own noise reaches.
LEAST_RISE = 1.25
SPREADS = 4.0
# The median distance from the median of a normal distribution, as a standard deviation.
MAD_TO_SPREAD = 1.4826

# Detectors compare with the time before, and a record that waited completes later.
BEFORE_MS, AFTER_MS = 60_000, 30_000
# The most that is looked at closely of each hour, so that a job that is always raised does not
# take days to analyse. Every hour has the same share: hours stay comparable.
MOST_PER_HOUR_MS = 300_000

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Scanned:
    """`raised` has one value per second from `start_ms` on, `usual_us` the p99 expected there (NaN
    if not known); `ranges_ms` are to be looked at closely, oldest first. `left_out_ms` is the
    length of further such ranges, beyond `MOST_PER_HOUR_MS`."""

    start_ms: int
    raised: Mask
    usual_us: Floats
    ranges_ms: tuple[tuple[int, int], ...]
    left_out_ms: int = 0

    @property
    def raised_s(self) -> int:
        return int(self.raised.sum())


def scan(at_ms: Ints, p99_us: Floats, start_ms: int, end_ms: int) -> Scanned:
    """Scans roll-ups of one second at `at_ms`; seconds without a roll-up, or whose p99 is NaN or 0,
    are not known and never raised."""
    series = on_grid(at_ms, p99_us, start_ms, end_ms)
    usual_us, spread = _usual(series)
    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.maximum(np.log(LEAST_RISE), SPREADS * spread)
        rise = np.log(series / usual_us)
        raised = rise > least
    ranges, left_out_ms = _ranges(raised, np.nan_to_num(rise), start_ms, end_ms)
    return Scanned(start_ms, raised, usual_us, ranges, left_out_ms)


def on_grid(at_ms: Ints, values: Floats, start_ms: int, end_ms: int) -> Floats:
    """The values at every second from `start_ms` on; NaN where there is none or it is 0."""
    series = np.full(max(0, -(-(end_ms - start_ms) // STEP_MS)), np.nan)
    places = (np.asarray(at_ms, dtype=np.int64) - start_ms) // STEP_MS
    values = np.asarray(values, dtype=np.float64)
    inside = (places >= 0) & (places < len(series)) & (values > 0)
    series[places[inside]] = values[inside]
    return series


def _usual(series: Floats) -> tuple[Floats, Floats]:
    """The usual p99 and the spread of its logarithm, for each second.

    A block's median is usual unless most of the block is raised: then the median of its
    neighbours is lower, and that is taken."""
    if not len(series):
        return series, series
    blocks = -(-len(series) // BLOCK_S)
    table: Floats = np.full((blocks, BLOCK_S), np.nan)
    table.ravel()[: len(series)] = np.log(series)
    middles = _median(table)
    around = np.column_stack(
        [_moved(middles, by) for by in range(-NEIGHBOURS, NEIGHBOURS + 1)],
    )
    usual = np.fmin(middles, _median(around))
    spreads = _median(np.abs(table - middles[:, None])) * MAD_TO_SPREAD
    spread = _median(np.column_stack([_moved(spreads, by) for by in (-1, 0, 1)]))
    return (
        np.exp(np.repeat(usual, BLOCK_S)[: len(series)]),
        np.repeat(spread, BLOCK_S)[: len(series)],
    )


def _median(table: Floats) -> Floats:
    """The median of each row, without what is not known; NaN if nothing is."""
    known = ~np.isnan(table).all(axis=1)
    found = np.full(len(table), np.nan)
    if known.any():
        found[known] = np.nanmedian(table[known], axis=1)
    return found


def _moved(values: Floats, by: int) -> Floats:
    moved = np.full(len(values), np.nan)
    if by >= 0:
        moved[by:] = values[: len(values) - by]
    else:
        moved[:by] = values[-by:]
    return moved


def _ranges(
    raised: Mask, rise: Floats, start_ms: int, end_ms: int
) -> tuple[tuple[tuple[int, int], ...], int]:
    """Raised stretches with the time that detectors need around them; the highest rises first if
    an hour has more than may be looked at."""
    join = (BEFORE_MS + AFTER_MS) // STEP_MS
    kept: list[tuple[int, int]] = []
    left_out_ms = 0
    budget_ms: dict[int, int] = {}
    spans = sorted(
        _cut(chance.spans(raised, join)),
        key=lambda span: -float(rise[span[0] : span[1]].max(initial=0.0)),
    )
    for first, after in spans:
        start = max(start_ms, start_ms + first * STEP_MS - BEFORE_MS)
        end = min(end_ms, start_ms + after * STEP_MS + AFTER_MS)
        hour = (start_ms + first * STEP_MS) // HOUR_MS
        left_ms = budget_ms.setdefault(hour, MOST_PER_HOUR_MS)
        if left_ms <= 0:
            left_out_ms += end - start
            continue
        budget_ms[hour] = left_ms - (end - start)
        kept.append((start, end))
    return _joined(sorted(kept)), left_out_ms


def _cut(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cuts long stretches, so that an hour that is raised all along is looked at in part."""
    most = (MOST_PER_HOUR_MS - BEFORE_MS - AFTER_MS) // STEP_MS
    return [
        (at, min(at + most, after)) for first, after in spans for at in range(first, after, most)
    ]


def _joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)

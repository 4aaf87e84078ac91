"""When latency changed for good.

The series is the logarithm of p99 per step (ten minutes or an hour, from merged buckets). First the
daily rhythm is taken out (the weekly one if three weeks are known): otherwise every morning would
be a change. Then binary segmentation (Scott and Knott 1974; Vostrikova 1981): the best split of the
series, and again of both halves. A split has to pass three gates:

1. a penalty like that of Schwarz (BIC), which is cheap;
2. a permutation test of the maximal CUSUM, which counts that the best of all splits was chosen.
   Blocks of hours are permuted rather than single values, because neighbours are alike;
3. the effect: at least 10 % between the medians of both sides, each at least a day long.

What lasts less than `LEAST_MS` is an incident and not a change; less than three days of data cannot
tell a change from a rhythm and gives none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from techniques.intervals import Floats

HOUR_MS, DAY_MS, WEEK_MS = 3_600_000, 86_400_000, 604_800_000
LEAST_MS = DAY_MS
FEWEST_DAYS, FEWEST_WEEKS = 3, 3
LEAST_EFFECT = 1.1
BLOCK_MS = 12 * HOUR_MS
FEWEST_BLOCKS = 12
LEVEL = 0.01
# The first draw decides most splits; the second gives p-values that many jobs can be held against.
FEW_DRAWS, MANY_DRAWS = 999, 9_999
AT_ONCE = 1_000
# Half of the 95 % quantile of χ² with one degree: how much worse another place of the change may
# fit and still be likely.
LIKELY = 1.92
MOST_POINTS = 8


@dataclass(frozen=True)
class ChangePoint:
    """p99 is `ratio` times what it was, from `at_ms` on; the change is likely between `from_ms` and
    `to_ms`. `before` and `after` are the medians of the sides, up to the neighbouring changes."""

    at_ms: int
    from_ms: int
    to_ms: int
    before: float
    after: float
    p_value: float

    @property
    def ratio(self) -> float:
        return self.after / self.before


def change_points(
    start_ms: int, step_ms: int, values: Floats, seed: int = 0
) -> tuple[ChangePoint, ...]:
    """Finds changes of the level of `values` (one per step, NaN or 0: not known), oldest first."""
    values = np.where(np.asarray(values, dtype=np.float64) > 0, values, np.nan)
    if len(values) * step_ms < FEWEST_DAYS * DAY_MS:
        return ()
    known = np.flatnonzero(~np.isnan(values))
    if len(known) * step_ms < FEWEST_DAYS * DAY_MS * 0.75:
        return ()
    logs = without_rhythm(np.log(values), step_ms)[known]
    least = max(2, LEAST_MS // step_ms)
    block = max(1, min(BLOCK_MS // step_ms, len(logs) // FEWEST_BLOCKS))
    random = np.random.default_rng(seed)
    splits = dict(_splits(logs, 0, least, block, random))
    return tuple(_described(logs, known, splits, start_ms, step_ms, block))


def without_rhythm(logs: Floats, step_ms: int) -> Floats:
    """Subtracts what is typical of the time of day (or of week). The level is taken out first, by a
    running median as long as the period, so that a change of level is no part of the rhythm."""
    period_ms = WEEK_MS if len(logs) * step_ms >= FEWEST_WEEKS * WEEK_MS else DAY_MS
    period = period_ms // step_ms
    rest = logs - _running_median(logs, period)
    rows = -(-len(logs) // period)
    table: Floats = np.full((rows, period), np.nan)
    table.ravel()[: len(logs)] = rest
    profile = np.zeros(period)
    known = ~np.isnan(table).all(axis=0)
    profile[known] = np.nanmedian(table[:, known], axis=0)
    return logs - np.tile(profile, rows)[: len(logs)]


def _running_median(values: Floats, length: int) -> Floats:
    """The median of the `length` values around each; near an end, of the first or last `length`,
    because a shorter one would hold only a part of the rhythm."""
    length = min(length, len(values))
    windows = np.lib.stride_tricks.sliding_window_view(values, length)
    known = ~np.isnan(windows).all(axis=1)
    middles = np.full(len(windows), np.nanmedian(values))
    middles[known] = np.nanmedian(windows[known], axis=1)
    return middles[np.clip(np.arange(len(values)) - length // 2, 0, len(windows) - 1)]


def _splits(
    logs: Floats, offset: int, least: int, block: int, random: np.random.Generator, depth: int = 0
) -> Iterator[tuple[int, float]]:
    """The places of changes and their p-values."""
    if len(logs) < 2 * least or 2**depth > MOST_POINTS:
        return
    at, p_value = _best(logs, least, block, random)
    before, after = logs[:at], logs[at:]
    if p_value > LEVEL or abs(np.median(after) - np.median(before)) < np.log(LEAST_EFFECT):
        return
    yield from _splits(before, offset, least, block, random, depth + 1)
    yield offset + at, p_value
    yield from _splits(after, offset + at, least, block, random, depth + 1)


def _best(logs: Floats, least: int, block: int, random: np.random.Generator) -> tuple[int, float]:
    """The best split, and how often the blocks in a random order have one as good."""
    gains = _gains(logs[None, :], least)[0]
    at = least + int(gains.argmax())
    best = float(gains.max())
    noise = min(float(np.var(logs[:at])), float(np.var(logs[at:])))
    if best <= 2 * noise * np.log(len(logs)):
        return at, 1.0
    draws, as_good = 0, 0
    for more in (FEW_DRAWS, MANY_DRAWS - FEW_DRAWS):
        as_good += _as_good(logs, best, least, block, more, random)
        draws += more
        if as_good > 1:
            break
    return at, (1 + as_good) / (1 + draws)


def _gains(rows: Floats, least: int) -> Floats:
    """By how much a split after `least`, `least` + 1, … values lowers each row's squared error."""
    size = rows.shape[1]
    sums = np.cumsum(rows - rows.mean(axis=1, keepdims=True), axis=1)[:, least - 1 : size - least]
    first = np.arange(least, size - least + 1)
    gains: Floats = sums**2 * size / (first * (size - first))
    return gains


def _as_good(
    logs: Floats,
    best: float,
    least: int,
    block: int,
    draws: int,
    random: np.random.Generator,
) -> int:
    found = 0
    for done in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - done)
        # A random begin of the first block, so that blocks do not always break at the same hours.
        numbers = (np.arange(len(logs)) + int(random.integers(block))) // block
        ranks = random.random((rows, numbers[-1] + 1))
        moved = logs[np.argsort(ranks[:, numbers], axis=1, kind="stable")]
        found += int((_gains(moved, least).max(axis=1) >= best).sum())
    return found


def _described(
    logs: Floats,
    known: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    splits: dict[int, float],
    start_ms: int,
    step_ms: int,
    block: int,
) -> Iterator[ChangePoint]:
    bounds = [0, *sorted(splits), len(logs)]
    for first, at, after in zip(bounds, bounds[1:], bounds[2:], strict=False):
        before_level, after_level = np.median(logs[first:at]), np.median(logs[at:after])
        if abs(after_level - before_level) < np.log(LEAST_EFFECT):
            continue
        low, high = _likely(logs[first:after], at - first, block)
        times = [start_ms + int(known[first + each]) * step_ms for each in (low, at - first, high)]
        yield ChangePoint(
            at_ms=times[1],
            from_ms=times[0],
            to_ms=times[2],
            before=float(np.exp(before_level)),
            after=float(np.exp(after_level)),
            p_value=splits[at],
        )


def _likely(logs: Floats, at: int, block: int) -> tuple[int, int]:
    """The first and the last place of the change that fit almost as well as the best."""
    gains = _gains(logs[None, :], 1)[0]
    rest = np.concatenate((logs[:at] - logs[:at].mean(), logs[at:] - logs[at:].mean()))
    whole = len(rest) // block * block
    # The variance of neighbours that are alike: of the means of blocks, times their length.
    noise = float(rest[:whole].reshape(-1, block).mean(axis=1).var()) * block
    likely = np.flatnonzero(gains >= gains[at - 1] - 2 * LIKELY * max(noise, 1e-12)) + 1
    # Only those next to the best: a second place far away is another question.
    near = np.split(likely, np.flatnonzero(np.diff(likely) > 1) + 1)
    mine = next(part for part in near if len(part) and part[0] <= at <= part[-1])
    return int(mine[0]), int(mine[-1])


def corrected(
    found: Sequence[Sequence[ChangePoint]], level: float = 0.05
) -> list[tuple[ChangePoint, ...]]:
    """Keeps the changes that stand if as many jobs are asked as were (Bonferroni)."""
    jobs = max(1, len(found))
    return [tuple(each for each in of if each.p_value * jobs <= level) for of in found]

"""How many compaction threads (ShadowSync, section 4.2.2): the knee of p99 over live compactions.

For each 50 ms window the paper takes the tail latency and the number of running compactions, plots
one against the other (Figure 15), and finds the point beyond which latency rises with Kneedle
(Satopaa et al., ICDCSW '11). It found 4, where the default was 16.

The setting is per executor, so the level of a window is the number of compactions that its busiest
executor runs at once. A level's latency is the median of its windows. More compactions do
not help the records that wait, so the curve is made to rise (isotonic regression, weighted by
windows) before Kneedle looks at it: a level that was seen rarely makes no knee of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from techniques.intervals import Floats, Intervals, Ints
from techniques.view import WINDOW_MS, View

# A level seen in fewer windows (less than a second) is left out of the curve.
FEWEST_WINDOWS = 20
# A curve of fewer points has no room for a knee.
FEWEST_LEVELS = 4
# The factor by which p99 has to rise from the first level to the last.
LEAST_RISE = 1.1
# Kneedle's sensitivity S = 1 means one step of the curve. Here it is scaled to one of the 15 steps
# of the paper's curve: with few levels, one of their steps would be most of the curve.
PAPERS_STEPS = 15

# p99 of the windows at each level, in ms.
Pairs = Mapping[int, Sequence[float]]


@dataclass(frozen=True)
class Point:
    level: int
    p99_ms: float
    windows: int


@dataclass(frozen=True)
class Knee:
    """`at` is None if there is no knee; `why` then says what is missing."""

    points: tuple[Point, ...]
    at: int | None
    why: str

    @property
    def is_spread(self) -> bool:
        """Whether enough levels were seen for a curve."""
        return len(self.points) >= FEWEST_LEVELS


def pairs(view: View, since_ms: float = -inf) -> dict[int, list[float]]:
    """The p99 of each window from `since_ms` on with compactions and records, by level.

    Rounded to three digits: values are stored as text between the steps of an exploration, and the
    knee must be the same before and after.
    """
    levels = view.once(at_once)
    starts_ms = view.start_ms + np.arange(len(view)) * WINDOW_MS
    known = (levels > 0) & np.isfinite(view.p99_ms) & (starts_ms >= since_ms)
    found: dict[int, list[float]] = {}
    for level, ms in zip(levels[known].tolist(), view.p99_ms[known].tolist(), strict=True):
        found.setdefault(level, []).append(float(f"{ms:.3g}"))
    return dict(sorted(found.items()))


def together(one: Pairs, other: Pairs) -> dict[int, list[float]]:
    return {level: [*one.get(level, ()), *other.get(level, ())] for level in sorted({*one, *other})}


def at_once(view: View) -> Ints:
    """For each window, the most compactions that one executor ran at the same time."""
    compactions = view.of("compaction")
    most = np.zeros(len(view), dtype=np.int64)
    for executor in dict.fromkeys(compactions.executor.tolist()):
        mine = compactions[compactions.executor == executor]
        np.maximum(most, _of_one(view, mine), out=most)
    return most


def knee(seen: Pairs) -> Knee:
    found = points(seen)
    if why := lacks(found):
        return Knee(found, None, why)
    at = _kneedle(np.array([point.level for point in found], dtype=np.float64), _curve(found))
    if at is None:
        return Knee(found, None, "with more compactions at once p99 rises without a knee")
    return Knee(found, at, f"beyond {at} compaction{'' if at == 1 else 's'} at once p99 rises")


def points(seen: Pairs) -> tuple[Point, ...]:
    return tuple(
        Point(level, float(np.median(values)), len(values))
        for level, values in sorted(seen.items())
        if len(values) >= FEWEST_WINDOWS
    )


def lacks(found: Sequence[Point]) -> str:
    """Returns why there is no curve to search for a knee; empty if there is one."""
    if not found:
        return "there were too few windows with compactions"
    if len(found) < FEWEST_LEVELS:
        return f"only {_listed(found)} seen often enough"
    curve = _curve(found)
    if curve[-1] < LEAST_RISE * curve[0]:
        return "with more compactions at once p99 does not rise"
    return ""


def _curve(found: Sequence[Point]) -> Floats:
    heights = np.array([point.p99_ms for point in found])
    return rising(heights, np.array([point.windows for point in found]))


def rising(values: Floats, weights: Ints) -> Floats:
    """Isotonic regression: neighbours that fall are replaced by their weighted mean."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, weighs, size = value, float(weight), 1
        while blocks and blocks[-1][0] > mean:
            before, weighed, held = blocks.pop()
            mean = (mean * weighs + before * weighed) / (weighs + weighed)
            weighs, size = weighs + weighed, size + held
        blocks.append((mean, weighs, size))
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])


def _kneedle(x: Floats, y: Floats) -> int | None:
    # Imported only when there is a curve: it loads SciPy, 90 MB in two seconds, and most jobs never
    # have one.
    from kneed import KneeLocator

    found = KneeLocator(
        x,
        y,
        S=(len(x) - 1) / PAPERS_STEPS,
        curve="convex",
        direction="increasing",
        online=True,
    ).all_knees
    # Kneedle also reports the end of a curve that has stopped rising; nothing lies beyond that.
    below = _below_the_chord(x, y)
    inner = [at for at in range(1, len(x) - 1) if x[at] in found]
    return int(x[max(inner, key=lambda at: below[at])]) if inner else None


def _below_the_chord(x: Floats, y: Floats) -> Floats:
    below: Floats = (x - x[0]) / (x[-1] - x[0]) - (y - y[0]) / (y[-1] - y[0])
    return below


def _of_one(view: View, compactions: Intervals) -> Ints:
    """The most compactions of one executor that run at once in each window."""
    starts, ends = np.sort(compactions.start_ms), np.sort(compactions.end_ms)
    edges_ms = view.start_ms + np.arange(len(view), dtype=np.float64) * WINDOW_MS
    most = _running(starts, ends, edges_ms)
    joined = (starts >= view.start_ms) & (starts < view.end_ms)
    windows = ((starts[joined] - view.start_ms) // WINDOW_MS).astype(np.int64)
    np.maximum.at(most, windows, _running(starts, ends, starts[joined]))
    return most


def _running(starts: Floats, ends: Floats, at_ms: Floats) -> Ints:
    """How many run at each moment: one that ends then is not counted, one that begins is."""
    begun = np.searchsorted(starts, at_ms, side="right")
    return begun - np.searchsorted(ends, at_ms, side="right")


def _listed(points: Sequence[Point]) -> str:
    *most, last = [str(point.level) for point in points]
    if not most:
        return f"{last} compaction{'' if last == '1' else 's'} at once was"
    return f"{', '.join(most)} and {last} compactions at once were"

"""What else changed when latency did: the release, the rows per batch, the bytes of state.

This says *with*, not *because*. A number counts if it steps at the change as it does nowhere else
in the range: state that grows all week and batches that are larger by day do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.analysis.change_points import ChangePoint
from techniques.intervals import Floats

HOUR_MS = 3_600_000
TOLERANCE_MS = 2 * HOUR_MS
# The levels before and after are medians of this long.
LEVEL_MS = 6 * HOUR_MS
LEAST_RATIO = 1.2
# How far the step has to stand out of the highest 5 % of steps elsewhere.
STANDS_OUT = 1.5


@dataclass(frozen=True)
class Together:
    """`what` changed within `TOLERANCE_MS` of the change, from `before` to `after`."""

    what: str
    before: str | float
    after: str | float


def releases(
    change: ChangePoint, start_ms: int, step_ms: int, names: Sequence[str]
) -> Together | None:
    """The release that began within the tolerance, one name per step ("" if not known)."""
    first = change.from_ms - TOLERANCE_MS
    last = change.to_ms + TOLERANCE_MS
    before = ""
    for at, name in enumerate(names):
        at_ms = start_ms + at * step_ms
        if not name:
            continue
        if before and name != before and first <= at_ms <= last:
            return Together("release", before, name)
        before = name
    return None


def level(
    what: str,
    change: ChangePoint,
    others: Sequence[ChangePoint],
    start_ms: int,
    values: Floats,
    step_ms: int,
) -> Together | None:
    """The number if it stepped within the tolerance; `others` are the job's other changes, whose
    surroundings do not count as ordinary."""
    values = np.where(np.asarray(values, dtype=np.float64) > 0, values, np.nan)
    length = max(1, LEVEL_MS // step_ms)
    if len(values) < 2 * length + 1:
        return None
    steps, befores, afters = _steps(np.log(values), length)
    at_ms = start_ms + np.arange(len(values)) * step_ms
    near = (at_ms >= change.from_ms - TOLERANCE_MS) & (at_ms <= change.to_ms + TOLERANCE_MS)
    ordinary = ~np.isnan(steps)
    for each in (change, *others):
        ordinary &= (at_ms < each.from_ms - TOLERANCE_MS - LEVEL_MS) | (
            at_ms > each.to_ms + TOLERANCE_MS + LEVEL_MS
        )
    here = np.where(near & ~np.isnan(steps), np.abs(steps), -1.0)
    if here.max(initial=-1.0) < np.log(LEAST_RATIO):
        return None
    place = int(here.argmax())
    if ordinary.any():
        usual = float(np.percentile(np.abs(steps[ordinary]), 95))
        if here[place] < STANDS_OUT * usual:
            return None
    return Together(what, float(np.exp(befores[place])), float(np.exp(afters[place])))


def _steps(logs: Floats, length: int) -> tuple[Floats, Floats, Floats]:
    """At each place: the difference of the medians of the `length` values before and from it on,
    and both medians. NaN near the ends and where less than half is known."""
    size = len(logs)
    windows = np.lib.stride_tricks.sliding_window_view(logs, length)
    enough = (~np.isnan(windows)).sum(axis=1) * 2 >= length
    middles = np.full(len(windows), np.nan)
    if enough.any():
        middles[enough] = np.nanmedian(windows[enough], axis=1)
    befores, afters = np.full(size, np.nan), np.full(size, np.nan)
    befores[length:] = middles[: size - length]
    afters[: len(middles)] = middles
    return afters - befores, befores, afters

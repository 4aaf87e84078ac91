"""The sliding minute over which everything is measured, in sub-windows of ten seconds (section 6).

Sub-windows begin at whole ten seconds. A burst in one of them changes a sixth of what is measured:
nobody acts on it unless it lasts.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from techniques.view import WINDOW_MS, Floats, View

SUB_WINDOW_MS = 10_000
SUB_WINDOWS = 6
MINUTE_MS = SUB_WINDOWS * SUB_WINDOW_MS
# With less than half of the minute nothing is said.
FEWEST = SUB_WINDOWS // 2
# A gap that is as long is missing data, and what is known after it too little for a while.
LONGEST_HOLE_MS = 30_000


def last(view: View, values: Floats) -> Floats:
    """The windows of the complete sub-windows of the last minute, a row for each."""
    per_row = SUB_WINDOW_MS // WINDOW_MS
    end = len(view) - view.end_ms % SUB_WINDOW_MS // WINDOW_MS
    rows = min(SUB_WINDOWS, max(0, end) // per_row)
    return values[end - rows * per_row : end].reshape(rows, per_row) if rows else _none(per_row)


def sums(view: View, values: Floats) -> Floats:
    """One value per sub-window, the oldest first; NaN where nothing is known in it."""
    return _of_known(view, values, np.nansum)


def means(view: View, values: Floats) -> Floats:
    return _of_known(view, values, np.nanmean)


def mean(view: View, values: Floats) -> float | None:
    """The mean of the minute, None unless something is known in half of its sub-windows."""
    known = means(view, values)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) >= FEWEST else None


def has_data(view: View) -> bool:
    """Whether the view's frames suffice: half of the minute, and no long gap. Waiting tasks are in
    every frame, so where they are not known there was none."""
    is_known = ~np.isnan(view.waiting_tasks)
    if np.count_nonzero(is_known[-MINUTE_MS // WINDOW_MS :]) * WINDOW_MS < MINUTE_MS // 2:
        return False
    at = np.flatnonzero(is_known)
    gaps = np.diff(at, append=len(is_known))
    return bool(gaps.max(initial=0) * WINDOW_MS < LONGEST_HOLE_MS)


def _of_known(view: View, values: Floats, of: Callable[..., Any]) -> Floats:
    rows = last(view, values)
    found = np.full(len(rows), np.nan)
    is_known = ~np.isnan(rows).all(axis=1)
    if is_known.any():
        found[is_known] = of(rows[is_known], axis=1)
    return found


def _none(per_row: int) -> Floats:
    return np.empty((0, per_row))

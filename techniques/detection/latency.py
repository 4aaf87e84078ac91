"""Whether latency is higher during some spans of windows than at other times, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.detection import chance
from techniques.model import Evidence
from techniques.view import WINDOW_MS, Floats, View

Spans = Sequence[tuple[int, int]]

# A record that waited completes later: this is how long after the cause its latency counts.
REACH = 1_500 // WINDOW_MS
FEWEST_CONTROLS = 8


@dataclass(frozen=True)
class Rise:
    """The median p99 peak of the spans against that of other times."""

    added_ms: float
    ratio: float
    p_value: float
    lag_ms: float

    @property
    def evidence(self) -> tuple[Evidence, Evidence]:
        peaks = f"{self.ratio:.1f} × that of other times, {self.added_ms:.0f} ms more"
        return (
            Evidence("peak of p99", peaks),
            Evidence("p-value: p99 as high at other times (Student's t)", f"{self.p_value:.2g}"),
        )


def rise(view: View, spans: Spans) -> Rise | None:
    """Compares latency in and shortly after the spans (of windows) with the time between them."""
    if not spans:
        return None
    reaching = [(first, after + REACH) for first, after in spans]
    return against(view, reaching, _between(view, spans))


def against(view: View, spans: Spans, controls: Spans) -> Rise | None:
    """Compares latency in the spans with the controls; None if too little is known of either."""
    if not spans or len(controls) < FEWEST_CONTROLS:
        return None
    p99_ms = view.once(_p99_ms)
    peaks, others = _peaks(p99_ms, spans), _peaks(p99_ms, controls)
    if not len(peaks) or len(others) < FEWEST_CONTROLS:
        return None
    usual = float(np.median(others))
    peak_ms = float(np.median(peaks))
    return Rise(
        added_ms=peak_ms - usual,
        ratio=peak_ms / usual,
        p_value=chance.as_high(np.log(peaks), np.log(others)),
        lag_ms=float(np.median(_lags_ms(p99_ms, spans))),
    )


def peaks(view: View, spans: Spans) -> Floats:
    """The highest p99 in each span; 0 if none is known."""
    return _highest(view.once(_p99_ms), spans)


def _p99_ms(view: View) -> Floats:
    """The p99 of each window, 0 if unknown, and one more 0 so that spans may end with the view."""
    return np.append(np.where(np.isnan(view.p99_ms), 0.0, view.p99_ms), 0.0)


def _peaks(p99_ms: Floats, spans: Spans) -> Floats:
    """The highest p99 of each span that has a known one."""
    highest = _highest(p99_ms, spans)
    return highest[highest > 0]


def _highest(p99_ms: Floats, spans: Spans) -> Floats:
    bounds = np.minimum(np.array(spans, dtype=np.int64).reshape(-1, 2), len(p99_ms) - 1)
    found = np.zeros(len(bounds))
    some = bounds[:, 0] < bounds[:, 1]
    if some.any():
        # `reduceat` gives the maximum between each two bounds; every other result is a span's.
        found[some] = np.maximum.reduceat(p99_ms, bounds[some].ravel())[::2]
    return found


def _lags_ms(p99_ms: Floats, spans: Spans) -> list[int]:
    """For each span with a known p99, the time from its beginning to its peak."""
    inside = [p99_ms[:-1][first:after] for first, after in spans]
    return [int(each.argmax()) * WINDOW_MS for each in inside if each.any()]


def _between(view: View, spans: Spans) -> list[tuple[int, int]]:
    """Consecutive control spans, as long as a typical span, that no span reaches into."""
    length = max(1, int(np.median([after - first for first, after in spans]))) if spans else 1
    taken = np.zeros(len(view), dtype=bool)
    for first, after in spans:
        taken[first : after + REACH] = True
    found = []
    for first, after in chance.spans(~taken):
        for start in range(first, after - length - REACH + 1, length + REACH):
            found.append((start, start + length + REACH))
    return found

"""Whether latency rose with something, and by how much."""

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
    """Of the spans' peaks against those of other times: medians."""

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
    """Of latency in and after the spans (windows) against the time in between."""
    if not spans:
        return None
    reaching = [(first, after + REACH) for first, after in spans]
    return against(view, reaching, _between(view, spans))


def against(view: View, spans: Spans, controls: Spans) -> Rise | None:
    """Of latency in the spans against the controls; None where too little is known of either."""
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
    """The highest p99 in each span, 0 where none is known."""
    return _highest(view.once(_p99_ms), spans)


def _p99_ms(view: View) -> Floats:
    """What is not known is no peak. One more at the end, so that spans may end with the view."""
    return np.append(np.where(np.isnan(view.p99_ms), 0.0, view.p99_ms), 0.0)


def _peaks(p99_ms: Floats, spans: Spans) -> Floats:
    """Those of spans in which something is known."""
    highest = _highest(p99_ms, spans)
    return highest[highest > 0]


def _highest(p99_ms: Floats, spans: Spans) -> Floats:
    bounds = np.minimum(np.array(spans, dtype=np.int64).reshape(-1, 2), len(p99_ms) - 1)
    found = np.zeros(len(bounds))
    some = bounds[:, 0] < bounds[:, 1]
    if some.any():
        # Of two bounds after each other the maximum in between: every other one is of a span.
        found[some] = np.maximum.reduceat(p99_ms, bounds[some].ravel())[::2]
    return found


def _lags_ms(p99_ms: Floats, spans: Spans) -> list[int]:
    """How long after the beginning of each such span its peak was."""
    inside = [p99_ms[:-1][first:after] for first, after in spans]
    return [int(each.argmax()) * WINDOW_MS for each in inside if each.any()]


def _between(view: View, spans: Spans) -> list[tuple[int, int]]:
    """Stretches as long as a typical span, one after another, that no span reaches into."""
    length = max(1, int(np.median([after - first for first, after in spans]))) if spans else 1
    taken = np.zeros(len(view), dtype=bool)
    for first, after in spans:
        taken[first : after + REACH] = True
    found = []
    for first, after in chance.spans(~taken):
        for start in range(first, after - length - REACH + 1, length + REACH):
            found.append((start, start + length + REACH))
    return found

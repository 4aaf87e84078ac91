"""Whether latency rose with something, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.detectors import chance
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
            Evidence("that other times look so", f"{self.p_value:.2g}"),
        )


def rise(view: View, spans: Spans) -> Rise | None:
    """Of latency in and after the spans (windows) against the time in between."""
    reaching = [(first, after + REACH) for first, after in spans]
    return against(view, reaching, _between(view, spans))


def against(view: View, spans: Spans, controls: Spans) -> Rise | None:
    """Of latency in the spans against the controls; None where too little is known of either."""
    peaks, lags = _peaks(view.p99_ms, spans)
    others, _ = _peaks(view.p99_ms, controls)
    if not len(peaks) or len(others) < FEWEST_CONTROLS:
        return None
    usual = float(np.median(others))
    peak_ms = float(np.median(peaks))
    return Rise(
        added_ms=peak_ms - usual,
        ratio=peak_ms / usual,
        p_value=chance.as_high(np.log(peaks), np.log(others)),
        lag_ms=float(np.median(lags)),
    )


def _peaks(p99_ms: Floats, spans: Spans) -> tuple[Floats, Floats]:
    """The highest p99 in each span, and how long after its beginning that was."""
    peaks, lags = [], []
    for first, after in spans:
        inside = p99_ms[first:after]
        inside = np.where(np.isnan(inside), 0.0, inside)
        if len(inside) and (at := int(inside.argmax())) >= 0 and inside[at] > 0:
            peaks.append(inside[at])
            lags.append(at * WINDOW_MS)
    return np.array(peaks), np.array(lags)


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

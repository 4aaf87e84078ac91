"""How the latencies of a range were spread: percentiles and the whole cumulative curve."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collectors.formats import latency
from collectors.formats.buckets import Histogram, merged, middle_us
from collectors.formats.latency import Source
from collectors.formats.wire import Frame
from dashboard.series import windows

MOST_POINTS = 200
TAIL_FROM = 0.99

# By the moment at which a record's latency ends: its histogram in a frame, given the source.
MOMENTS: Mapping[str, Callable[[Frame, Source], Histogram]] = {
    "processed": latency.of,
    # Only stamped records have a commit time.
    "committed": lambda frame, _source: frame.committed,
}


class Spread:
    """Collects a range piece by piece, for all sources: which one it has is known at the end."""

    def __init__(self, which: str = "processed") -> None:
        self._moment = MOMENTS[which]
        self._source = Source.NONE
        self._found = {source: Histogram() for source in Source}

    def add(self, frames: Sequence[Frame]) -> None:
        self._source = latency.source_of(frames, self._source)
        for source, found in self._found.items():
            self._found[source] = merged([found, *(self._moment(f, source) for f in frames)])

    def shown(self) -> dict[str, Any]:
        whole = self._found[self._source]
        quantiles = whole.quantiles_us(windows.QUANTILES.values())
        return {
            "source": self._source,
            "count": whole.count,
            **{name: windows.ms(us) for name, us in zip(windows.QUANTILES, quantiles, strict=True)},
            "cdf": cdf(whole),
        }


def cdf(histogram: Histogram, most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """Points (ms, share of records that took no longer), ascending, `most` of them at most.

    Half of them are for the slowest 1 %, the part of interest; the lowest and the highest latency
    are always included.
    """
    total = histogram.count
    points: list[tuple[float, float]] = []
    seen = 0
    for index, count in sorted(histogram.counts.items()):
        if count:
            seen += count
            points.append((round(middle_us(index) / 1000, 3), seen / total))
    body = [point for point in points if point[1] <= TAIL_FROM]
    tail = points[len(body) :]
    for_tail = max(most // 2, most - len(body))
    return _thinned(body, max(most // 2, most - len(tail))) + _thinned(tail, for_tail)


def _thinned(points: list[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    if len(points) <= most:
        return points
    last = len(points) - 1
    return [points[round(at * last / (most - 1))] for at in range(most)]

"""The latency that an SLO is about, over bins of ten seconds, from the frames of one job.

Counts are added up per bin and percentiles read from their sum: those of windows cannot be
averaged. Bins are the same as in heartbeats (`collectors.formats.pulse`): they begin at whole ten
seconds, and what happened while the run warmed up is in none.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from collectors.formats import latency
from collectors.formats.buckets import Histogram, middle_us
from collectors.formats.latency import Source
from collectors.formats.pulse import BIN_MS
from collectors.formats.wire import Frame
from techniques.slo.objective import Of, Statistic

# A worker that takes over a job reads two minutes.
MOST_BINS = 13
QUANTILES = {Statistic.P95: 0.95, Statistic.P99: 0.99, Statistic.P999: 0.999}


@dataclass(frozen=True)
class Bin:
    """Ten seconds that are complete; nothing completed in them where there are no counts."""

    end_ms: int
    counts: Histogram

    def ms(self, statistic: Statistic) -> float | None:
        if not self.counts.count:
            return None
        if statistic is Statistic.MEAN:
            total_us = sum(middle_us(index) * count for index, count in self.counts.counts.items())
            return total_us / self.counts.count / 1000
        [us] = self.counts.quantiles_us([QUANTILES[statistic]])
        return None if us is None else us / 1000


class LatencyBins:
    """Add frames in the order of their windows."""

    def __init__(self, of: Of) -> None:
        self.of = of
        self._source = Source.NONE
        self._open: int | None = None
        # Whether the open bin had begun before the first frame: then it will never be complete.
        self._is_partial = False
        self._counts: dict[int, int] = {}
        self._done: deque[Bin] = deque(maxlen=MOST_BINS)

    def add(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            self._turn_to(frame)
            before, self._source = self._source, latency.source_of((frame,), self._source)
            if before != self._source == Source.RECORD:
                self._counts = {}
                self._done.clear()  # those were latencies of batches
            if not frame.warming_up:
                self._pour(self._of(frame))

    def since(self, end_ms: int) -> list[Bin]:
        """The complete bins that ended after `end_ms`, oldest first."""
        return [each for each in self._done if each.end_ms > end_ms]

    @property
    def newest(self) -> Bin | None:
        return self._done[-1] if self._done else None

    def _of(self, frame: Frame) -> Histogram:
        if self.of is Of.COMMITTED and self._source is Source.RECORD:
            return frame.committed
        return latency.of(frame, self._source)

    def _turn_to(self, frame: Frame) -> None:
        number = frame.start_ms // BIN_MS
        if number == self._open:
            return
        if self._open is not None and not self._is_partial:
            self._done.append(Bin((self._open + 1) * BIN_MS, Histogram(self._counts)))
        self._is_partial = self._open is None and frame.start_ms % BIN_MS > 0
        self._open, self._counts = number, {}

    def _pour(self, told: Histogram) -> None:
        for index, count in told.counts.items():
            self._counts[index] = self._counts.get(index, 0) + count

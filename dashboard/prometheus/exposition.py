"""The text that Prometheus scrapes, from what jobs announce and from their newest frames.

Nothing is kept between two scrapes, so any server process can answer. A counter starts anew when a
run does, as Prometheus expects of counters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from collectors import metrics
from collectors.announcement import Announcement
from collectors.coarse import BOUNDS_US
from collectors.wire import Frame
from dashboard.jobs import STALE_AFTER_MS
from dashboard.prometheus.table import (
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    LEVELS,
    WORDS,
    Histogram,
    Level,
    Number,
    Word,
    runs,
)

# How long the totals of a run are told after its last word: time enough for a last scrape.
REMEMBERED_MS = 300_000

LABELS = ("job", "application", "query")
EXECUTOR_LABELS = (*LABELS, "executor", "host")

# The largest whole microsecond of a bucket is in it, as it is for Prometheus: counts are exact.
_BOUNDS = (*(f"{bound_us / 1e6:.6f}" for bound_us in BOUNDS_US), "+Inf")


def exposition(
    announced: Sequence[Announcement], newest: Mapping[str, Frame], now_ms: int
) -> bytes:
    """`newest` has the newest frame of jobs by their id; without one, nothing of executors."""
    return generate_latest(_Fleet(sorted(announced, key=_labels), newest, now_ms))


@dataclass(frozen=True)
class _Fleet(Collector):
    announced: Sequence[Announcement]
    newest: Mapping[str, Frame]
    now_ms: int

    def collect(self) -> Iterator[Metric]:
        running = [each for each in self.announced if runs(each, self.now_ms)]
        remembered = [
            each for each in self.announced if self.now_ms - each.heartbeat_ms < REMEMBERED_MS
        ]
        yield from (_words(word, self.announced, self.now_ms) for word in WORDS)
        yield from (_histogram(histogram, remembered) for histogram in HISTOGRAMS)
        yield from (_counter(counter, remembered) for counter in COUNTERS)
        yield from (_gauge(gauge, running) for gauge in GAUGES)
        frames = [(each, self._frame(each)) for each in running]
        yield from (_level(level, frames) for level in LEVELS)

    def _frame(self, announced: Announcement) -> Frame | None:
        frame = self.newest.get(announced.job_id)
        # After an outage of Redis the heartbeat is ahead of the frames.
        return frame if frame and self.now_ms - frame.start_ms < STALE_AFTER_MS else None


def _words(word: Word, announced: Sequence[Announcement], now_ms: int) -> Metric:
    family = GaugeMetricFamily(word.name, word.meaning, labels=LABELS)
    for each in announced:
        family.add_metric(_labels(each), word.of(each, now_ms))
    return family


def _histogram(histogram: Histogram, announced: Sequence[Announcement]) -> Metric:
    family = HistogramMetricFamily(histogram.name, histogram.meaning, labels=LABELS)
    for each in announced:
        if each.pulse and (found := histogram.of(each.pulse)):
            buckets = list(zip(_BOUNDS, accumulate(found.counts), strict=True))
            family.add_metric(_labels(each), buckets, found.sum_us / 1e6)
    return family


def _counter(counter: Number, announced: Sequence[Announcement]) -> Metric:
    family = CounterMetricFamily(counter.name, counter.meaning, labels=LABELS)
    for labels, value in _known(counter, announced):
        family.add_metric(labels, value)
    return family


def _gauge(gauge: Number, announced: Sequence[Announcement]) -> Metric:
    family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=LABELS)
    for labels, value in _known(gauge, announced):
        family.add_metric(labels, value)
    return family


def _level(level: Level, frames: Sequence[tuple[Announcement, Frame | None]]) -> Metric:
    family = GaugeMetricFamily(level.name, level.meaning, labels=EXECUTOR_LABELS)
    metric_id = metrics.BY_NAME[level.metric].id
    for announced, frame in frames:
        for sample in frame.executors if frame else ():
            if (value := sample.metrics.get(metric_id)) is not None:
                labels = (*_labels(announced), sample.executor_id, sample.host)
                family.add_metric(labels, value / level.one)
    return family


def _known(
    number: Number, announced: Sequence[Announcement]
) -> Iterator[tuple[tuple[str, ...], float]]:
    for each in announced:
        if each.pulse and (value := number.of(each.pulse)) is not None:
            yield _labels(each), value


def _labels(announced: Announcement) -> tuple[str, ...]:
    return announced.job_id, announced.application, announced.query

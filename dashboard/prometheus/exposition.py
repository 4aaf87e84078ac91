"""The text that Prometheus scrapes, from what jobs announce and from their newest frames.

Nothing is kept between two scrapes, so any server process can answer. A counter starts anew when a
run does, as Prometheus expects of counters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from collectors.formats import metrics
from collectors.formats.announcement import Announcement
from collectors.formats.coarse_buckets import BOUNDS_US
from collectors.formats.pulse import Pulse
from collectors.formats.wire import ExecutorSample, Frame
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.prometheus import text
from dashboard.prometheus.table import (
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    LEVELS,
    SLOW,
    WORDS,
    Histogram,
    Level,
    Number,
    Slow,
    Word,
    runs,
)

# How long the totals of a run are exposed after its last heartbeat, so that they are scraped.
REMEMBERED_MS = 300_000

# A bucket includes its upper bound, in whole µs, as Prometheus defines `le`: counts are exact.
_BOUNDS = (*(f"{bound_us / 1e6:.6f}" for bound_us in BOUNDS_US), "+Inf")


@dataclass(frozen=True)
class _Job:
    announced: Announcement
    labels: str
    runs: bool
    # Counters stay for a while after a run ended, gauges do not.
    totals: Pulse | None
    executors: tuple[ExecutorSample, ...]
    # The frame of the last whole second, which has what changes slowly.
    slow: Frame | None


def exposition(
    announced: Sequence[Announcement],
    newest: Mapping[str, Frame],
    slow: Mapping[str, Frame],
    now_ms: int,
) -> bytes:
    """`newest`: the newest frame by job id; a job without one gets no executor metrics. `slow`: the
    frame of its last whole second."""
    ordered = sorted(announced, key=lambda each: each.job_id)
    jobs = [_job(each, newest.get(each.job_id), slow.get(each.job_id), now_ms) for each in ordered]
    lines: list[str] = []
    for word in WORDS:
        lines += _words(word, jobs, now_ms)
    for histogram in HISTOGRAMS:
        lines += _histograms(histogram, jobs)
    for counter in COUNTERS:
        lines += _numbers("counter", counter, jobs)
    running = [job for job in jobs if job.runs]
    for gauge in GAUGES:
        lines += _numbers("gauge", gauge, running)
    for level in LEVELS:
        lines += _levels(level, running)
    for each in SLOW:
        lines += _slow(each, running)
    return "".join(lines).encode()


def _job(announced: Announcement, newest: Frame | None, slow: Frame | None, now_ms: int) -> _Job:
    # After an outage of Redis the heartbeat is ahead of the frames.
    fresh = newest is not None and now_ms - newest.start_ms < STALE_AFTER_MS
    remembered = now_ms - announced.heartbeat_ms < REMEMBERED_MS
    return _Job(
        announced,
        text.labels(
            {
                "job": announced.job_id,
                "application": announced.application,
                "query": announced.query,
            }
        ),
        runs(announced, now_ms),
        announced.pulse if remembered else None,
        newest.executors if newest and fresh else (),
        slow if fresh else None,
    )


def _words(word: Word, jobs: Sequence[_Job], now_ms: int) -> Iterator[str]:
    yield text.head(word.name, "gauge", word.meaning)
    for job in jobs:
        yield text.line(word.name, job.labels, word.of(job.announced, now_ms))


def _histograms(histogram: Histogram, jobs: Sequence[_Job]) -> Iterator[str]:
    yield text.head(histogram.name, "histogram", histogram.meaning)
    for job in jobs:
        if job.totals and (found := histogram.of(job.totals)):
            cumulative = zip(_BOUNDS, accumulate(found.counts), strict=True)
            yield text.histogram(histogram.name, job.labels, cumulative, found.sum_us / 1e6)


def _numbers(kind: str, number: Number, jobs: Sequence[_Job]) -> Iterator[str]:
    yield text.head(number.name, kind, number.meaning)
    for job in jobs:
        if job.totals and (value := number.of(job.totals)) is not None:
            yield text.line(number.name, job.labels, value)


def _levels(level: Level, jobs: Sequence[_Job]) -> Iterator[str]:
    yield text.head(level.name, "gauge", level.meaning)
    metric = metrics.BY_NAME[level.metric]
    for job in jobs:
        for sample in _samples(job, metric.seldom):
            if (value := sample.metrics.get(metric.id)) is not None:
                own = text.labels({"executor": sample.executor_id, "host": sample.host})
                yield text.line(level.name, f"{job.labels},{own}", value / level.one)


def _samples(job: _Job, seldom: bool) -> tuple[ExecutorSample, ...]:
    if not seldom:
        return job.executors
    return job.slow.executors if job.slow else ()


def _slow(slow: Slow, jobs: Sequence[_Job]) -> Iterator[str]:
    yield text.head(slow.name, "gauge", slow.meaning)
    for job in jobs:
        for own, value in slow.of(job.slow) if job.slow else ():
            labels = f"{job.labels},{text.labels(own)}" if own else job.labels
            yield text.line(slow.name, labels, value)

"""Record latency, or batch latency where nothing is stamped: the one place that says which.

If any record in a time range is stamped, the range has record latencies, and the durations of its
batches are not used. If none is, every row of a batch counts with the duration of its batch.
"""

from collections.abc import Iterable
from enum import StrEnum

from collectors.formats.buckets import Histogram, index_of
from collectors.formats.wire import Batch, Frame


class Source(StrEnum):
    """Records are stamped, or only batches are timed, or nothing completed."""

    RECORD = "record"
    BATCH = "batch"
    NONE = "none"


# From worst to best.
_BY_WORTH = (Source.NONE, Source.BATCH, Source.RECORD)


def source(stamped: bool, batches: bool) -> Source:
    if stamped:
        return Source.RECORD
    return Source.BATCH if batches else Source.NONE


def source_of(frames: Iterable[Frame], before: Source = Source.NONE) -> Source:
    """Returns the source of a range from its next frames; `before` is that of the frames so far."""
    best = before
    for frame in frames:
        if frame.stamped:
            return Source.RECORD
        if frame.batches:
            best = better(best, Source.BATCH)
    return best


def better(one: Source, other: Source) -> Source:
    return max(one, other, key=_BY_WORTH.index)


def of(frame: Frame, source: Source) -> Histogram:
    """The latencies of one window, in a range that has this source."""
    return of_batches(frame.batches) if source == Source.BATCH else frame.latency


def of_batches(batches: Iterable[Batch]) -> Histogram:
    """Without stamp(): every row of a batch took as long as the batch."""
    counts: dict[int, int] = {}
    for batch in batches:
        index = index_of(batch.duration_ms * 1000)
        counts[index] = counts.get(index, 0) + max(1, batch.rows_in)
    return Histogram(counts)

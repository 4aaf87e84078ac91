"""Where a job's latencies come from, and what stands in for them where no record is stamped."""

from collections.abc import Iterable
from enum import StrEnum

from collectors.formats.buckets import Histogram, index_of
from collectors.formats.wire import Batch


class Source(StrEnum):
    """Records are stamped, or only batches are timed, or nothing completed."""

    RECORD = "record"
    BATCH = "batch"
    NONE = "none"


def source(stamped: bool, batches: bool) -> Source:
    if stamped:
        return Source.RECORD
    return Source.BATCH if batches else Source.NONE


def of_batches(batches: Iterable[Batch]) -> Histogram:
    """Without stamp(): every row of a batch took as long as the batch."""
    counts: dict[int, int] = {}
    for batch in batches:
        index = index_of(batch.duration_ms * 1000)
        counts[index] = counts.get(index, 0) + max(1, batch.rows_in)
    return Histogram(counts)

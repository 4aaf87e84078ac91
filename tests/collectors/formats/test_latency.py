"""Record latency, or batch latency where nothing is stamped."""

import pytest

from collectors.formats import latency
from collectors.formats.buckets import Histogram
from collectors.formats.latency import Source
from collectors.formats.wire import Batch, Frame
from tests.factories import START_MS, frame

SILENT = frame(0)
TIMED = frame(1, batches=(Batch(1, START_MS, 800, 5),))
STAMPED = frame(2, (20,), batches=(Batch(2, START_MS, 700, 1),))


@pytest.mark.parametrize(
    ("frames", "source"),
    [
        ([], Source.NONE),
        ([SILENT], Source.NONE),
        ([SILENT, TIMED], Source.BATCH),
        ([TIMED, STAMPED, SILENT], Source.RECORD),
    ],
    ids=["nothing", "silence", "batches", "records"],
)
def test_one_stamped_record_makes_a_range_one_of_records(
    frames: list[Frame], source: Source
) -> None:
    assert latency.source_of(frames) == source


@pytest.mark.parametrize("before", Source)
def test_a_later_piece_never_makes_the_source_worse(before: Source) -> None:
    assert latency.source_of([SILENT], before) == before
    assert latency.source_of([STAMPED], before) == Source.RECORD


def test_every_row_of_a_batch_took_as_long_as_the_batch() -> None:
    assert latency.of(TIMED, Source.BATCH) == Histogram.of([800_000] * 5)


def test_batches_are_no_latency_in_a_range_of_records() -> None:
    assert latency.of(STAMPED, Source.RECORD) == Histogram.of([20_000])
    assert not latency.of(TIMED, Source.RECORD).counts

"""Archived minutes of two releases: the planted shift is told, equal ranges have none."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dashboard.history import bucket_columns
from dashboard.history.analysis.comparison import Range, shifts
from dashboard.history.archive import Archive, Place

START_MS = 1_793_577_600_000
HOUR_MS = 3_600_000


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Six hours of minutes; from the third hour on, latency is 1.5 times as high."""
    random = np.random.default_rng(1)
    minutes = 360
    row = np.repeat(np.arange(minutes), 500)
    latencies = 100_000 * np.exp(0.5 * random.normal(size=len(row)))
    latencies[row >= 120] *= 1.5
    index = bucket_columns.indexes_of(latencies.astype(np.int64))
    histograms = bucket_columns.counted(minutes, row, index, np.ones(len(row), np.int64))
    at_ms = START_MS + np.arange(minutes) * 60_000
    rolled = pa.table({"at_ms": pa.array(at_ms), "latency": histograms.column()})
    made = Archive(Place(str(tmp_path)))
    made.append_rolled("shop.orders", 60_000, rolled, -1, START_MS + 6 * HOUR_MS)
    return made


def hours(first: int, after: int) -> Range:
    return Range("shop.orders", START_MS + first * HOUR_MS, START_MS + after * HOUR_MS)


def test_a_release_that_made_it_slower_is_told_with_its_interval(archive: Archive) -> None:
    found = {each.quantile: each for each in shifts(archive, hours(0, 2), hours(2, 4))}

    for name in ("p50", "p90", "p99"):
        assert found[name].shifted
        assert found[name].ratio == pytest.approx(1.5, rel=0.05)
    assert found["p50"].before == pytest.approx(100_000, rel=0.03)


def test_two_ranges_of_one_release_have_no_shift(archive: Archive) -> None:
    assert not any(each.shifted for each in shifts(archive, hours(2, 4), hours(4, 6)))


def test_a_range_without_records_has_none(archive: Archive) -> None:
    assert shifts(archive, hours(0, 2), hours(8, 9)) == ()

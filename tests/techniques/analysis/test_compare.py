"""Shifts of percentiles from merged buckets, with intervals that neighbours do not narrow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.analysis.compare import QUANTILES, compare, quantiles
from techniques.intervals import Floats
from tests.techniques.analysis.noise import remembering

MIDDLES = np.exp(np.linspace(np.log(1_000), np.log(1e7), 600))


def minutes(seed: int, size: int = 180, ratio: float = 1.0, memory: float = 0.7) -> Floats:
    """A few hundred latencies a minute; the minutes are alike for as long as they remember."""
    random = np.random.default_rng(seed)
    levels = remembering(random, size, memory, 0.1)
    rows = np.zeros((size, len(MIDDLES)))
    for at, level in enumerate(levels):
        latencies = 100_000 * ratio * np.exp(level + random.normal(size=300) * 0.5)
        np.add.at(rows[at], np.searchsorted(MIDDLES, latencies), 1)
    return rows


def test_a_job_that_became_slower_is_told_so_at_every_percentile() -> None:
    shifts = compare(minutes(1), minutes(2, ratio=1.5), MIDDLES)

    assert [each.quantile for each in shifts] == list(QUANTILES)
    for each in shifts[:3]:
        assert each.shifted
        assert each.ratio == pytest.approx(1.5, rel=0.15)
        assert each.low is not None
        assert each.high is not None
        assert each.low < 1.5 < each.high


def test_a_job_that_did_not_change_is_mostly_told_so() -> None:
    false = sum(
        compare(minutes(seed), minutes(seed + 1_000), MIDDLES)[2].shifted for seed in range(100)
    )

    assert false <= 15  # single minutes, drawn as if they were independent, give about 25


def test_ten_minutes_have_no_interval() -> None:
    shifts = compare(minutes(1, 10), minutes(2, 200), MIDDLES)

    assert all(each.low is None and not each.shifted for each in shifts)


def test_a_range_without_records_has_no_shifts() -> None:
    assert compare(np.zeros((5, len(MIDDLES))), minutes(1, 10), MIDDLES) == ()
    assert compare(minutes(1, 10), np.zeros((0, len(MIDDLES))), MIDDLES) == ()


@given(st.lists(st.integers(0, 599), min_size=1, max_size=200))
def test_percentiles_are_the_nearest_rank_of_what_was_counted(places: list[int]) -> None:
    row = np.bincount(places, minlength=len(MIDDLES)).astype(float)

    found = quantiles(row[None, :], MIDDLES)[0]

    ordered = np.sort(MIDDLES[places])
    for name, value in zip(QUANTILES, found, strict=True):
        rank = max(1, int(np.ceil(QUANTILES[name] * len(ordered) - 1e-9)))
        assert value == pytest.approx(ordered[rank - 1])

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import buckets
from collectors.formats.buckets import (
    BUCKETS,
    FINE,
    MAX_US,
    ORDINARY,
    Histogram,
    Scale,
    index_of,
    merged,
    middle_us,
)
from collectors.formats.codec import Garbled, Reader, Writer

LATENCIES = st.integers(min_value=0, max_value=MAX_US)
QUANTILES = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
RELATIVE_ERROR = 0.01


@given(LATENCIES)
def test_a_bucket_stands_for_its_values_within_one_percent(latency_us: int) -> None:
    assert abs(middle_us(index_of(latency_us)) - latency_us) <= RELATIVE_ERROR * latency_us


@given(LATENCIES)
def test_a_fine_bucket_stands_for_its_values_four_times_as_closely(latency_us: int) -> None:
    assert abs(FINE.middle_us(FINE.index_of(latency_us)) - latency_us) <= latency_us / 512


@pytest.mark.parametrize("scale", [ORDINARY, FINE])
@given(latency_us=LATENCIES)
def test_a_value_is_within_the_bounds_of_its_bucket_and_of_no_other(
    scale: Scale, latency_us: int
) -> None:
    index = scale.index_of(latency_us)
    lowest, highest = scale.bounds_us(index)
    assert lowest <= latency_us <= highest
    assert scale.bounds_us(index + 1)[0] == highest + 1


@given(LATENCIES, LATENCIES)
def test_a_larger_latency_never_lands_in_a_lower_bucket(one: int, other: int) -> None:
    assert (index_of(one) <= index_of(other)) or one > other


@pytest.mark.parametrize(("latency_us", "index"), [(-5, 0), (0, 0), (63, 63), (64, 64), (127, 127)])
def test_small_latencies_are_exact_and_the_future_counts_as_now(
    latency_us: int, index: int
) -> None:
    assert index_of(latency_us) == index
    assert middle_us(index) == max(0, latency_us)


def test_an_hour_is_the_last_bucket() -> None:
    assert index_of(MAX_US * 10) == index_of(MAX_US) == BUCKETS - 1


@given(st.lists(LATENCIES, min_size=1, max_size=400))
def test_percentiles_equal_numpys_within_one_percent(latencies_us: list[int]) -> None:
    ours = Histogram.of(latencies_us).quantiles_us(QUANTILES)
    theirs = np.quantile(latencies_us, QUANTILES, method="inverted_cdf")
    np.testing.assert_allclose(np.array(ours, dtype=float), theirs, rtol=RELATIVE_ERROR)


@pytest.mark.parametrize("scale_us", [50, 3_000, 200_000])
@pytest.mark.parametrize("shape", ["exponential", "lognormal", "pareto", "constant"])
@pytest.mark.parametrize("size", [1, 10, 1_000, 50_000])
def test_percentiles_of_named_distributions_are_within_one_percent(
    shape: str, scale_us: int, size: int
) -> None:
    random = np.random.default_rng(7)
    drawn = {
        "exponential": random.exponential(scale_us, size),
        "lognormal": random.lognormal(np.log(scale_us), 1.5, size),
        "pareto": (random.pareto(1.5, size) + 1) * scale_us,
        "constant": np.full(size, float(scale_us)),
    }
    latencies_us = np.minimum(drawn[shape], MAX_US).astype(int)
    ours = Histogram.of(map(int, latencies_us)).quantiles_us(QUANTILES)
    theirs = np.quantile(latencies_us, QUANTILES, method="inverted_cdf")
    np.testing.assert_allclose(np.array(ours, dtype=float), theirs, rtol=RELATIVE_ERROR)


@given(st.lists(st.lists(LATENCIES, max_size=30), max_size=6))
def test_merging_loses_nothing(parts: list[list[int]]) -> None:
    together = merged(Histogram.of(part) for part in parts)
    assert together == Histogram.of(us for part in parts for us in part)


def test_an_empty_histogram_has_no_percentiles() -> None:
    assert Histogram().quantiles_us([0.5, 0.999]) == [None, None]


@given(st.lists(LATENCIES, max_size=100))
def test_a_histogram_comes_back_from_its_bytes(latencies_us: list[int]) -> None:
    histogram = Histogram.of(latencies_us)
    buckets.write(out := Writer(), histogram)
    assert buckets.read(Reader(out.bytes())) == histogram


@pytest.mark.parametrize("scale", [ORDINARY, FINE])
def test_a_bucket_beyond_the_last_is_garbage(scale: Scale) -> None:
    out = Writer()
    for value in (1, scale.buckets, 1):
        out.varint(value)
    with pytest.raises(Garbled, match="bucket"):
        buckets.read(Reader(out.bytes()), scale)


def test_a_bucket_that_comes_twice_is_garbage() -> None:
    out = Writer()
    for value in (2, 7, 1, 0, 1):
        out.varint(value)
    with pytest.raises(Garbled, match="twice"):
        buckets.read(Reader(out.bytes()))

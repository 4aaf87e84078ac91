from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.buckets import MAX_US, Histogram
from collectors.formats.coarse_buckets import BOUNDS_US, COARSE_BUCKETS, Coarse, Tally

latencies_us = st.lists(st.integers(0, MAX_US), max_size=50)


def tallied(values_us: list[int]) -> Coarse:
    tally = Tally()
    tally.add(Histogram.of(values_us).counts)
    return tally.taken()


def test_bounds_run_from_a_millisecond_to_about_an_hour_four_to_an_octave() -> None:
    assert len(BOUNDS_US) == COARSE_BUCKETS - 1 == 87
    assert BOUNDS_US[0] == 1_023
    assert 3_200 * 1_000_000 < BOUNDS_US[-1] < MAX_US
    for lower, upper in zip(BOUNDS_US, BOUNDS_US[4:], strict=False):
        assert upper + 1 == 2 * (lower + 1)


@given(latencies_us)
def test_every_value_counts_under_the_first_bound_it_does_not_exceed(values_us: list[int]) -> None:
    expected = [0] * COARSE_BUCKETS
    for value_us in values_us:
        expected[bisect_left(BOUNDS_US, value_us)] += 1
    assert tallied(values_us).counts == tuple(expected)


def test_values_at_and_just_above_a_bound_are_told_apart() -> None:
    for at, bound_us in enumerate(BOUNDS_US):
        assert tallied([bound_us]).counts[at] == 1
        assert tallied([bound_us + 1]).counts[at + 1] == 1


@given(latencies_us)
def test_the_sum_is_within_one_percent_of_the_raw_values(values_us: list[int]) -> None:
    assert abs(tallied(values_us).sum_us - sum(values_us)) <= 0.0078125 * sum(values_us) + 1


@given(st.lists(latencies_us, max_size=5))
def test_what_is_added_bit_by_bit_is_what_is_added_at_once(parts: list[list[int]]) -> None:
    tally = Tally()
    for part in parts:
        tally.add(Histogram.of(part).counts)
    assert tally.taken() == tallied([value for part in parts for value in part])

"""How an executor finds the driver's clock."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.collectors.conftest import probe

pytestmark = pytest.mark.spark

AHEAD_US = 90_000


def test_before_any_round_trip_the_clocks_are_taken_to_agree(spark: SparkSession) -> None:
    assert probe(spark).ClockOffset().aheadUs() == 0


def test_the_quickest_round_trip_is_believed(spark: SparkSession) -> None:
    offset = probe(spark).ClockOffset()
    # The driver read its clock right at the start of a slow trip, and half-way in a quick one.
    offset.observe(0, AHEAD_US, 40_000)
    offset.observe(100_000, 100_000 + AHEAD_US + 500, 101_000)
    assert offset.aheadUs() == AHEAD_US


def test_a_difference_smaller_than_the_trip_can_tell_is_none(spark: SparkSession) -> None:
    offset = probe(spark).ClockOffset()
    offset.observe(0, 1_900, 2_000)
    assert offset.aheadUs() == 0


def test_an_old_trip_is_forgotten_so_that_a_drifting_clock_is_followed(spark: SparkSession) -> None:
    offset = probe(spark).ClockOffset()
    offset.observe(0, 50, 100)
    for trip in range(64):
        offset.observe(trip * 1000, trip * 1000 + AHEAD_US + 500, trip * 1000 + 1000)
    assert offset.aheadUs() == AHEAD_US


def test_the_error_is_never_more_than_the_quickest_trip(spark: SparkSession) -> None:
    made = probe(spark).ClockOffset

    @settings(max_examples=40, deadline=None)
    @given(
        st.integers(-(10**9), 10**9),
        st.lists(st.tuples(st.integers(1, 10**5), st.floats(0, 1)), min_size=1, max_size=8),
    )
    def holds(ahead_us: int, trips: list[tuple[int, float]]) -> None:
        offset = made()
        for number, (took_us, share) in enumerate(trips):
            sent_us = number * 10**6
            read_us = sent_us + int(took_us * share) + ahead_us
            offset.observe(sent_us, read_us, sent_us + took_us)
        quickest = min(took_us for took_us, _ in trips)
        assert abs(offset.aheadUs() - ahead_us) <= quickest + 1

    holds()

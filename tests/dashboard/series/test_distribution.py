from bisect import bisect_right
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.buckets import Histogram
from collectors.formats.wire import Batch, Frame
from dashboard.series import distribution
from dashboard.series.distribution import Spread
from tests.factories import START_MS, frame


def spread(*pieces: list[Frame]) -> dict[str, Any]:
    taken = Spread()
    for piece in pieces:
        taken.add(piece)
    return taken.shown()


latencies_us = st.lists(st.integers(0, 60_000_000), min_size=1, max_size=400)


def test_percentiles_are_those_of_all_windows_together() -> None:
    frames = [frame(at, tuple(range(at * 100 + 1, at * 100 + 101))) for at in range(10)]
    shown = spread(frames[:3], frames[3:])
    assert (shown["source"], shown["count"]) == ("record", 1_000)
    expected = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p999": 999, "max": 1_000}
    assert {name: shown[name] for name in expected} == pytest.approx(expected, rel=0.01)


def test_without_records_there_are_no_numbers() -> None:
    shown = spread([frame(0)])
    assert (shown["source"], shown["count"], shown["p99"], shown["cdf"]) == ("none", 0, None, [])


def test_without_stamps_batches_stand_for_their_rows() -> None:
    batches = (Batch(1, START_MS, 100, 99), Batch(2, START_MS, 2_000, 1))
    shown = spread([frame(0, batches=batches)])
    assert (shown["source"], shown["count"]) == ("batch", 100)
    assert shown["p99"] == pytest.approx(100, rel=0.01)
    assert shown["max"] == pytest.approx(2_000, rel=0.01)


def test_a_piece_from_before_the_first_stamp_does_not_count_batches_among_records() -> None:
    not_yet = [frame(0, batches=(Batch(1, START_MS, 900, 50),))]
    shown = spread(not_yet, [frame(1, (10,))])
    assert (shown["source"], shown["count"]) == ("record", 1)


@given(latencies_us, st.sampled_from([4, 5, 20, 200]))
def test_the_curve_rises_from_the_least_to_the_greatest(us: list[int], most: int) -> None:
    curve = distribution.cdf(Histogram.of(us), most)
    assert 1 <= len(curve) <= most
    values, shares = zip(*curve, strict=True)
    assert list(values) == sorted(set(values))
    assert list(shares) == sorted(set(shares))
    assert values[0] * 1000 == pytest.approx(min(us), rel=0.01, abs=0.5)
    assert values[-1] * 1000 == pytest.approx(max(us), rel=0.01, abs=0.5)
    assert shares[-1] == 1


@given(latencies_us)
def test_every_point_of_the_curve_is_true(us: list[int]) -> None:
    ordered = sorted(us)
    for ms, share in distribution.cdf(Histogram.of(us), 20):
        # The point stands for its bucket, so it is true for some value within 1 % of it.
        low = bisect_right(ordered, ms * 1000 * 0.99 - 1) / len(us)
        high = bisect_right(ordered, ms * 1000 * 1.01 + 1) / len(us)
        assert low <= share <= high


def test_a_tail_of_one_in_ten_thousand_keeps_its_shape() -> None:
    body = [1_000 + at for at in range(10_000)]
    tail = [500_000, 800_000, 1_200_000]
    curve = distribution.cdf(Histogram.of(body + tail), 50)
    shown = [ms for ms, _ in curve if ms > 400]
    assert shown == pytest.approx([500, 800, 1_200], rel=0.01)

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ratios import Interval, mean_of, ratio_of

positive = st.floats(min_value=1e-3, max_value=1e6)


def test_one_value_says_nothing_about_the_spread() -> None:
    assert mean_of([4.0]) == Interval(4.0, None, None)
    assert ratio_of([(3.0, 2.0)]).low is None


def test_the_interval_is_students_over_few_values() -> None:
    found = mean_of([1.0, 2.0, 3.0])
    half = 4.30 * 1.0 / math.sqrt(3)
    assert found.mean == 2.0
    assert found.low == pytest.approx(2 - half)
    assert found.high == pytest.approx(2 + half)


@pytest.mark.parametrize(("values", "t"), [(16, 2.13), (17, 1.96)])
def test_beyond_the_table_the_normal_is_near_enough(values: int, t: float) -> None:
    found = mean_of([0.0, 2.0] * (values // 2) + [1.0] * (values % 2))
    deviation = math.sqrt(2 * (values // 2) / (values - 1))
    assert found.high == pytest.approx(1 + t * deviation / math.sqrt(values))


def test_twice_as_much_and_half_as_much_cancel_out() -> None:
    assert ratio_of([(2.0, 1.0), (1.0, 2.0)]).mean == pytest.approx(1.0)


def test_a_ratio_that_is_always_the_same_has_no_spread() -> None:
    assert ratio_of([(9.0, 10.0), (90.0, 100.0)]).rounded(6) == (0.9, 0.9, 0.9)


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=30))
def test_the_other_way_round_a_ratio_is_its_inverse(pairs: list[tuple[float, float]]) -> None:
    there, back = ratio_of(pairs), ratio_of([(b, a) for a, b in pairs])
    assert there.low is not None
    assert back.high is not None
    assert there.mean * back.mean == pytest.approx(1)
    assert there.low * back.high == pytest.approx(1)
    assert there.low <= there.mean * (1 + 1e-9)


@pytest.mark.parametrize(
    ("interval", "contains"),
    [
        (Interval(0.9, 0.8, 1.0), True),
        (Interval(0.9, 0.85, 0.95), False),
        (Interval(1.2, 1.1, 1.3), False),
        (Interval(0.5, None, None), True),
    ],
)
def test_a_difference_is_measurable_if_its_interval_is_all_on_one_side(
    interval: Interval, contains: bool
) -> None:
    assert interval.contains(1.0) is contains


def test_rounding_keeps_what_is_not_known_unknown() -> None:
    assert Interval(0.12345, None, None).rounded(2) == (0.12, None, None)

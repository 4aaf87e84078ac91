import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.effect import ratio

blocks = st.lists(st.floats(0.1, 1e6), min_size=3, max_size=40)


def test_half_the_latency_is_half() -> None:
    found = ratio([100, 110, 90, 100], [50, 55, 45, 50])

    assert found is not None
    assert found.ratio == pytest.approx(0.5)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 0.5 <= found.high < 1


def test_noise_alone_is_no_effect() -> None:
    random = np.random.default_rng(1)
    shown = 0
    for seed in range(200):
        found = ratio(
            random.lognormal(3, 0.5, 30).tolist(), random.lognormal(3, 0.5, 30).tolist(), seed
        )
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        shown += not found.low <= 1 <= found.high

    # 95 % intervals, a little short with 30 blocks: 1 in 20 is expected, 1 in 7 would be a fault.
    assert shown <= 28


def test_too_few_blocks_say_nothing_about_the_spread() -> None:
    found = ratio([100, 100], [50, 50, 50])

    assert found is not None
    assert (found.ratio, found.low, found.high) == (0.5, None, None)


def test_blocks_in_which_nothing_completed_do_not_count() -> None:
    assert ratio([], [1.0]) is None
    assert ratio([0.0, float("nan")], [1.0]) is None


@given(blocks, blocks, st.floats(0.01, 100))
def test_the_unit_does_not_matter(before: list[float], after: list[float], unit: float) -> None:
    one = ratio(before, after)
    other = ratio([unit * x for x in before], [unit * x for x in after])

    assert one is not None
    assert other is not None
    assert other.ratio == pytest.approx(one.ratio)
    assert other.low == pytest.approx(one.low)
    assert other.high == pytest.approx(one.high)

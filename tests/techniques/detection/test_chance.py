"""Ranks against counting all orders, which is what the exact test claims to be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.detection import chance


@given(st.permutations(range(9)), st.integers(1, 8))
def test_few_values_are_ranked_as_if_all_orders_were_counted(values: list[int], size: int) -> None:
    these, others = np.array(values[:size], float), np.array(values[size:], float)
    as_high = sum(sum(drawn) >= these.sum() for drawn in combinations(range(9), size))
    everything = sum(1 for _ in combinations(range(9), size))

    assert chance.rank_sum(these, others) == pytest.approx(as_high / everything)


def test_the_normals_tail_takes_over_where_the_two_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(7).permutation(40).astype(float)
    exact = chance.rank_sum(values[:20], values[20:])
    monkeypatch.setattr(chance, "MOST_EXACT", 0)

    assert chance.rank_sum(values[:20], values[20:]) == pytest.approx(exact, abs=0.02)


def test_the_highest_of_all_are_as_rare_as_their_draw() -> None:
    assert chance.rank_sum(np.array([9.0, 8.0]), np.arange(3.0)) == pytest.approx(1 / 10)


def test_a_distance_is_called_as_unlikely_as_it_is() -> None:
    random = np.random.default_rng(5)
    called = [chance.as_far(random.normal(size=3), random.normal(size=8)) for _ in range(4_000)]

    for level in (0.01, 0.05, 0.5):
        assert np.mean(np.array(called) <= level) == pytest.approx(level, rel=0.3)

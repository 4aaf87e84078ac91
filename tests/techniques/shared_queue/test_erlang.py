"""Erlang's C against values worked by hand, tables, the plain formula and a simulation."""

import heapq
from fractions import Fraction
from itertools import pairwise
from math import factorial, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from techniques.shared_queue.erlang import gain, mean_wait, wait_probability

servers = st.integers(1, 1_000)
utilisations = st.floats(0, 0.999)


def plain(count: int, utilisation: Fraction) -> Fraction:
    """The formula as it stands in the docstring, in whole numbers."""
    load = count * utilisation
    all_busy = load**count / factorial(count) / (1 - utilisation)
    some_idle = sum((load**k / Fraction(factorial(k)) for k in range(count)), Fraction(0))
    return all_busy / (some_idle + all_busy)


def simulated_wait(count: int, utilisation: float, chunks: int, seed: int) -> float:
    """The mean time in the queue of `count` servers with a mean service time of 1, event by event:
    each chunk goes to the server that is free first."""
    rng = np.random.default_rng(seed)
    arrivals = rng.exponential(1 / (count * utilisation), chunks).cumsum()
    services = rng.exponential(1.0, chunks)
    free_at = [0.0] * count
    waited = 0.0
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        begins = max(arrival, free_at[0])
        waited += begins - arrival
        heapq.heapreplace(free_at, begins + service)
    return waited / chunks


@pytest.mark.parametrize("utilisation", [0.1, 0.5, 0.78, 0.99])
def test_one_server_is_the_queue_of_every_textbook(utilisation: float) -> None:
    assert wait_probability(1, utilisation) == pytest.approx(utilisation)
    expected = utilisation / (1 - utilisation) * 0.002
    assert mean_wait(1, utilisation, 0.002) == pytest.approx(expected)


def test_two_servers_half_busy_make_a_third_wait() -> None:
    # a = 1: (1/2)·2 / (1 + 1 + (1/2)·2).
    assert wait_probability(2, 0.5) == pytest.approx(1 / 3)
    # A third waits, for s / (2·½) each.
    assert mean_wait(2, 0.5, 0.030) == pytest.approx(0.010)
    # Apart, each would wait for ½/(1-½)·s.
    assert gain(2, 0.5) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("count", "load", "waits"),
    [
        (3, 2, 0.4444),
        (4, 2, 0.1739),
        (4, 3, 0.5094),
        (5, 4, 0.5541),
        (10, 8, 0.4092),
        (10, 9, 0.6687),
        (20, 16, 0.2561),
    ],
)
def test_printed_tables_have_the_same_values(count: int, load: float, waits: float) -> None:
    assert wait_probability(count, load / count) == pytest.approx(waits, abs=5e-5)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20, 60])
@pytest.mark.parametrize("utilisation", [Fraction(1, 10), Fraction(7, 9), Fraction(99, 100)])
def test_the_recurrence_is_the_formula(count: int, utilisation: Fraction) -> None:
    expected = float(plain(count, utilisation))
    assert wait_probability(count, float(utilisation)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("utilisation", [0.5, 0.9, 0.97, 0.999])
def test_a_thousand_servers_are_no_matter_for_a_float(utilisation: float) -> None:
    # Erlang's B is a Poisson probability, given that no more than c are there.
    law = stats.poisson(1_000 * utilisation)
    blocked = law.pmf(1_000) / law.cdf(1_000)
    expected = blocked / (1 - utilisation * (1 - blocked))
    assert wait_probability(1_000, utilisation) == pytest.approx(expected, rel=1e-6, abs=1e-30)


@pytest.mark.parametrize(("count", "utilisation"), [(1, 0.6), (2, 0.78), (4, 0.78), (8, 0.85)])
def test_a_simulation_waits_as_long(count: int, utilisation: float) -> None:
    found = simulated_wait(count, utilisation, chunks=300_000, seed=count)
    assert found == pytest.approx(mean_wait(count, utilisation, 1.0), rel=0.06)


def test_figure_3_more_servers_wait_less_at_every_utilisation() -> None:
    for utilisation in np.linspace(0.05, 0.95, 19).tolist():
        waits = [mean_wait(count, utilisation, 1.0) for count in range(1, 11)]
        assert waits == sorted(waits, reverse=True)
        assert waits[0] > waits[-1]


def test_figure_3_the_fall_is_larger_under_higher_utilisation() -> None:
    falls = [
        mean_wait(1, utilisation, 1.0) - mean_wait(4, utilisation, 1.0)
        for utilisation in np.linspace(0.05, 0.95, 19).tolist()
    ]
    assert falls == sorted(falls)


def test_section_5_1_2_theory_expects_more_of_sharing_than_was_measured() -> None:
    separate = mean_wait(1, 350 / 450, 1 / 450)
    shared = mean_wait(4, 350 / 450, 1 / 450)
    assert separate == pytest.approx(0.00778, abs=5e-6)
    assert shared == pytest.approx(0.001393, abs=5e-7)
    # The paper measured 2.07 ms and 0.516 ms. Both are shorter than those of M/M/c, because shuffle
    # grouping deals tuples out in turn and equal tuples cost the same; they fall to a quarter.
    assert gain(4, 350 / 450) == pytest.approx(shared / separate)
    assert gain(4, 350 / 450) == pytest.approx(0.179, abs=5e-4)
    assert gain(4, 350 / 450) < 0.516 / 2.07 < 0.25


@given(servers, utilisations)
def test_a_probability_is_one(count: int, utilisation: float) -> None:
    assert 0 <= wait_probability(count, utilisation) <= 1


@given(st.integers(1, 999), utilisations)
def test_one_more_server_never_waits_longer(count: int, utilisation: float) -> None:
    fewer, more = (wait_probability(each, utilisation) for each in (count, count + 1))
    assert more <= fewer * (1 + 1e-9)
    assert gain(count + 1, utilisation) <= gain(count, utilisation) * (1 + 1e-9)


@given(servers, utilisations, utilisations)
def test_more_load_never_waits_less(count: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert mean_wait(count, low, 1.0) <= mean_wait(count, high, 1.0) * (1 + 1e-9)


@given(servers, st.floats(0.001, 5))
def test_sharing_gains_at_least_a_factor_of_the_number_of_servers(
    count: int, utilisation: float
) -> None:
    assert 0 <= gain(count, utilisation) <= 1 / count * (1 + 1e-9)


def test_without_load_nobody_waits_and_with_too_much_everybody_does_for_ever() -> None:
    assert (wait_probability(4, 0.0), mean_wait(4, 0.0, 1.0), gain(4, 0.0)) == (0, 0, 0)
    assert (wait_probability(4, 1.2), mean_wait(4, 1.2, 1.0), gain(4, 1.2)) == (1, inf, 0.25)
    assert (gain(1, 0.0), gain(1, 2.0)) == (1, 1)
    near = [gain(4, utilisation) for utilisation in (0.9, 0.99, 0.999, 1.0)]
    assert all(one < other for one, other in pairwise(near))


@pytest.mark.parametrize(
    ("count", "utilisation", "told"),
    [
        (0, 0.5, "servers must be at least 1, not 0"),
        (2, -0.1, "utilisation must be 0 or more, not -0.1"),
        (2, float("nan"), "utilisation must be 0 or more, not nan"),
        (2, inf, "utilisation must be 0 or more, not inf"),
    ],
)
def test_what_makes_no_sense_is_refused(count: int, utilisation: float, told: str) -> None:
    for function in (wait_probability, gain):
        with pytest.raises(ValueError, match=told):
            function(count, utilisation)
    with pytest.raises(ValueError, match=told):
        mean_wait(count, utilisation, 1.0)

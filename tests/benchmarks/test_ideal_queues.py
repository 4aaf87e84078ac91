"""Ideal queues against waits worked out by hand, and against theory where there is one."""

import numpy as np
import pytest

from benchmarks.ideal_queues import separate_waits_s, shared_waits_s


def test_one_queue_gives_each_to_the_server_that_is_free_first() -> None:
    times_s, service_s = np.array([0.0, 0, 0, 1]), np.array([5.0, 2, 2, 2])
    assert shared_waits_s(times_s, service_s, 2).tolist() == [0, 0, 2, 3]


def test_separate_queues_take_turns_whoever_is_free() -> None:
    times_s, service_s = np.array([0.0, 0, 0, 1]), np.array([5.0, 2, 2, 2])
    assert separate_waits_s(times_s, service_s, 2).tolist() == [0, 0, 5, 1]


def test_poisson_arrivals_wait_as_long_as_theory_has_it() -> None:
    """M/M/1 at 50 %: the mean wait is one service time."""
    numbers = np.random.default_rng(0)
    times_s = np.cumsum(numbers.exponential(2.0, 100_000))
    waits_s = shared_waits_s(times_s, numbers.exponential(1.0, 100_000), 1)
    assert waits_s.mean() == pytest.approx(1.0, rel=0.05)


def test_a_shared_queue_waits_less_than_separate_ones() -> None:
    numbers = np.random.default_rng(1)
    times_s = np.cumsum(numbers.exponential(1 / 3.12, 20_000))
    service_s = numbers.exponential(1.0, 20_000)
    shared, separate = (
        waits(times_s, service_s, 4).mean() for waits in (shared_waits_s, separate_waits_s)
    )
    assert shared < 0.5 * separate

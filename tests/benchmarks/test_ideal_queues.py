"""Ideal queues against waits worked out by hand, and against theory where there is one."""

import numpy as np
import pytest

from benchmarks.ideal_queues import in_turn, separate_waits_s, shared_waits_s


def test_one_queue_gives_each_to_the_server_that_is_free_first() -> None:
    times_s, service_s = np.array([0.0, 0, 0, 1]), np.array([5.0, 2, 2, 2])
    assert shared_waits_s(times_s, service_s, 2).tolist() == [0, 0, 2, 3]


def test_separate_queues_take_turns_whoever_is_free() -> None:
    times_s, service_s = np.array([0.0, 0, 0, 1]), np.array([5.0, 2, 2, 2])
    queues = in_turn(np.zeros(4, np.int64), 2)
    assert queues.tolist() == [0, 1, 0, 1]
    assert separate_waits_s(times_s, service_s, queues).tolist() == [0, 0, 5, 1]


def test_each_dispatcher_goes_round_by_itself() -> None:
    assert in_turn(np.array([0, 1, 1, 0, 1, 0]), 2).tolist() == [0, 0, 1, 1, 0, 0]


def test_poisson_arrivals_wait_as_long_as_theory_has_it() -> None:
    """M/M/1 at 50 %: the mean wait is one service time."""
    numbers = np.random.default_rng(0)
    times_s = np.cumsum(numbers.exponential(2.0, 100_000))
    waits_s = shared_waits_s(times_s, numbers.exponential(1.0, 100_000), 1)
    assert waits_s.mean() == pytest.approx(1.0, rel=0.05)


def test_a_shared_queue_gains_more_the_more_dispatchers_there_are() -> None:
    """One dispatcher gives each queue every fourth arrival: more even than independent ones do."""
    numbers = np.random.default_rng(1)
    times_s = np.cumsum(numbers.exponential(1 / 3.12, 50_000))
    service_s = numbers.exponential(1.0, 50_000)
    shared_s = shared_waits_s(times_s, service_s, 4).mean()
    one_s, many_s = (
        separate_waits_s(times_s, service_s, in_turn(numbers.integers(0, count, 50_000), 4)).mean()
        for count in (1, 50)
    )
    assert shared_s < 0.5 * one_s
    assert one_s < 0.8 * many_s
    assert many_s < 0.78 / 0.22 * 1.1  # M/M/1 at 78 %, which random choice would have

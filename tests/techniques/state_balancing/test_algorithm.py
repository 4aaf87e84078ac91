"""Algorithm 2, line by line."""

import pytest

from techniques.state_balancing.algorithm import aged_latencies, latencies, pairs
from techniques.state_balancing.stages import stateful
from tests.techniques.state_balancing.views import START_MS, Task, view

END_MS = START_MS + 60_000


def stage(number: int, at_ms: float, **sojourns_ms: float) -> list[Task]:
    """One task on each executor, whose names are letters."""
    return [
        Task(number, partition, name, at_ms, sojourn_ms)
        for partition, (name, sojourn_ms) in enumerate(sojourns_ms.items())
    ]


def test_latency_is_the_sojourn_against_the_median_of_the_stage() -> None:
    of = view(stage(1, 0, a=100, b=100, c=300) + stage(2, 1_000, a=40, b=20, c=20))

    assert latencies(stateful(of)) == pytest.approx({"a": 1.5, "b": 1.0, "c": 2.0})


def test_an_executor_with_too_many_partitions_is_slow_by_their_waiting() -> None:
    waiting = [Task(1, at, "a", 100 * at, 100, waited_ms=100 * at) for at in range(4)]
    found = latencies(stateful(view([*waiting, Task(1, 4, "b", 0, 100)])))

    assert found["a"] == 2.5 * found["b"]


@pytest.mark.parametrize(("alpha", "expected"), [(0.5, 2.0), (1.0, 3.0), (0.25, 1.5)])
def test_lines_3_to_6_age_the_latency_period_by_period(alpha: float, expected: float) -> None:
    calm, slow = stage(1, 45_000, a=100, b=100, c=100), stage(2, 55_000, a=100, b=100, c=300)
    aged = aged_latencies(stateful(view(calm + slow)), END_MS, 10_000, alpha)

    assert aged["c"] == pytest.approx(expected)
    assert aged["a"] == pytest.approx(1.0)


def test_an_executor_that_was_not_measured_keeps_its_latency() -> None:
    of = view(stage(1, 45_000, a=100, b=100, c=300) + stage(2, 55_000, a=100, b=100))

    assert aged_latencies(stateful(of), END_MS, 10_000, 0.5)["c"] == pytest.approx(3.0)


def test_lines_7_to_15_pair_the_slowest_with_the_fastest() -> None:
    latency = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 3.0, "e": 1.5}

    assert pairs(latency, 1.2) == [("b", "a"), ("d", "e")]


def test_they_stop_at_the_first_pair_within_tolerance() -> None:
    assert pairs({"a": 1.0, "b": 1.21, "c": 1.0, "d": 1.1}, 1.2) == [("b", "a")]
    assert pairs({"a": 1.0, "b": 1.2}, 1.2) == []
    assert pairs({"a": 1.0}, 1.2) == []


def test_an_executor_without_state_is_the_fastest() -> None:
    assert pairs({"a": 1.0, "b": 1.0, "new": 0.0}, 1.2) == [("b", "new")]

"""Du & Gupta's Algorithm 2: by hand, and whether it settles."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.latency_balancing.algorithm import (
    Tuning,
    aged,
    begun_with,
    even,
    settled_to,
    shifted,
)

Weights = dict[int, float]
# The latencies of tasks with these speeds that get these weights.
Response = Callable[[Mapping[int, float]], dict[int, float]]

weights = st.lists(st.floats(1, 1_000), min_size=1, max_size=40).map(
    lambda parts: settled_to(dict(enumerate(parts)), range(len(parts)))
)


def proportional(speeds: list[float]) -> Response:
    """A task that gets twice as much takes twice as long."""
    return lambda given: {task: share / speeds[task] for task, share in given.items()}


def queueing(speeds: list[float], load: float) -> Response:
    """Each task is an M/M/1 queue; one that gets more than it can do has a backlog in the end."""
    arriving = sum(speeds) * load / 100
    return lambda given: {
        task: 1 / max(speeds[task] - arriving * share, speeds[task] / 50)
        for task, share in given.items()
    }


def periods(response: Response, tasks: int, count: int) -> list[Weights]:
    """The weights after each of so many periods, from even ones on."""
    given, latency, found = even(range(tasks)), dict[int, float](), []
    for _ in range(count):
        latency = aged(latency, response(given), Tuning.alpha)
        given = shifted(given, latency, Tuning())
        found.append(given)
    return found


def swing(found: list[Weights]) -> float:
    """The widest range of any task's share, in percent of all traffic."""
    columns = [[given[task] for given in found] for task in found[0]]
    return max(max(column) - min(column) for column in columns)


def test_five_tasks_by_hand_through_four_periods() -> None:
    measured: list[dict[int, float]] = [
        # The first period stands as it is: 0 < 4 < 1 < 3 < 2; pairs 2-0 (3.0) and 3-4 (1.8).
        {0: 10, 1: 20, 2: 30, 3: 22, 4: 12},
        # Aged 12, 20, 25, 20, 14: pairs 2-0 (2.1), 3-4 (1.4).
        {0: 14, 1: 20, 2: 20, 3: 18, 4: 16},
        # Aged 15, 20, 20, 17, 15.5: pairs 2-0 (1.33), 1-4 (1.29); 3 is in the middle.
        {0: 18, 1: 20, 2: 15, 3: 14, 4: 17},
        # Aged 17, 18, 19, 17, 17: 19/17 is within the tolerance of 1.2.
        {0: 19, 1: 16, 2: 18, 3: 17, 4: 18.5},
    ]
    expected = [
        [21, 20, 19, 19, 21],
        [22, 20, 18, 18, 22],
        [23, 19, 17, 18, 23],
        [23, 19, 17, 18, 23],
    ]
    given, latency = even(range(5)), dict[int, float]()
    for period, after in zip(measured, expected, strict=True):
        latency = aged(latency, period, 0.5)
        given = shifted(given, latency, Tuning())
        assert list(given.values()) == after
    assert latency == {0: 17, 1: 18, 2: 19, 3: 17, 4: 17}


def test_it_stops_at_the_first_pair_within_tolerance() -> None:
    moved = shifted(even(range(4)), {0: 10, 1: 14, 2: 15, 3: 20}, Tuning())
    assert moved == {0: 26, 1: 25, 2: 25, 3: 24}


def test_just_at_the_threshold_nothing_moves() -> None:
    assert shifted({0: 50, 1: 50}, {0: 10, 1: 12}, Tuning()) == {0: 50, 1: 50}
    assert shifted({0: 50, 1: 50}, {0: 10, 1: 12.01}, Tuning()) == {0: 51, 1: 49}


def test_who_is_at_the_least_gives_nothing_away() -> None:
    latency = {0: 1.0, 1: 100.0}
    assert shifted({0: 98.5, 1: 1.5}, latency, Tuning()) == {0: 99, 1: 1}
    assert shifted({0: 99.0, 1: 1.0}, latency, Tuning()) == {0: 99, 1: 1}


def test_a_task_that_was_never_measured_takes_no_part() -> None:
    assert shifted({0: 40, 1: 20, 2: 40}, {0: 1, 2: 9}, Tuning()) == {0: 41, 1: 20, 2: 39}
    assert shifted({0: 50, 1: 50}, {}, Tuning()) == {0: 50, 1: 50}


def test_a_latency_ages_and_stays_where_nothing_was_measured() -> None:
    assert aged({0: 10, 1: 10}, {0: 30, 2: 5}, 0.25) == {0: 15, 1: 10, 2: 5}


@given(weights, st.data())
def test_shares_add_up_and_none_falls_below_the_least(given: Weights, data: st.DataObject) -> None:
    latency = {task: data.draw(st.floats(0, 1e9)) for task in given}
    for _ in range(5):
        given = shifted(given, latency, Tuning(unit=data.draw(st.floats(0.01, 10))))
        assert sum(given.values()) == pytest.approx(100)
        assert min(given.values()) >= min(Tuning.least, 100 / len(given)) - 1e-9


@given(weights, st.sets(st.integers(0, 60), min_size=1, max_size=50))
def test_tasks_come_and_go_without_a_share_below_the_least(given: Weights, now: set[int]) -> None:
    found = settled_to(given, now)
    assert set(found) == now
    assert sum(found.values()) == pytest.approx(100)
    assert min(found.values()) >= Tuning.least - 1e-9


@given(weights)
def test_while_the_tasks_are_the_same_their_weights_are_too(given: Weights) -> None:
    assert settled_to(given, given) == pytest.approx(given)


def test_what_a_gone_task_had_is_spread_over_the_others() -> None:
    assert settled_to({0: 60, 1: 20, 2: 20}, [0, 1]) == pytest.approx({0: 75, 1: 25})


def test_a_new_task_gets_an_even_share_of_all() -> None:
    found = settled_to({0: 60, 1: 40}, [0, 1, 2])
    assert found == pytest.approx({0: 40, 1: 80 / 3, 2: 100 / 3})


def test_a_new_task_does_not_take_what_the_slowest_has_left() -> None:
    # A hundredth is what is needed to notice that it has recovered.
    assert settled_to({0: 99, 1: 1}, [0, 1, 2])[1] == pytest.approx(1)


@pytest.mark.parametrize("shares", [{0: 0.0, 1: 0.0}, {}, {7: 100.0}])
def test_shares_that_say_nothing_are_even_ones(shares: dict[int, float]) -> None:
    assert settled_to(shares, [0, 1]) == {0: 50, 1: 50}
    assert begun_with(shares, [0, 1]) == {0: 50, 1: 50}


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({0: 10.0}, [10, 30, 30, 30]),
        ({0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0}, [10, 20, 30, 40]),
        # Shares of more or less than 100 % are proportions.
        ({0: 1.0, 1: 1.0, 2: 1.0, 3: 2.0}, [20, 20, 20, 40]),
        # Nothing is left for the others: they get an even share.
        ({0: 60.0, 1: 40.0}, [30, 20, 25, 25]),
        # Nobody begins below the least.
        ({0: 0.0, 1: 100.0, 2: 0.0, 3: 0.0}, [1, 97, 1, 1]),
    ],
)
def test_weights_begin_with_what_somebody_set(
    shares: dict[int, float], expected: list[float]
) -> None:
    assert list(begun_with(shares, range(4)).values()) == pytest.approx(expected)


def test_nobody_gets_nothing_and_of_more_than_a_hundred_all_get_the_same() -> None:
    assert settled_to({0: 1.0}, []) == {}
    assert settled_to({0: 90.0}, range(125)) == dict.fromkeys(range(125), 0.8)


@settings(deadline=None)
@given(st.lists(st.floats(1, 4), min_size=2, max_size=10))
def test_shares_follow_speeds_where_latency_is_in_proportion_to_the_share(
    speeds: list[float],
) -> None:
    response = proportional(speeds)
    found = periods(response, len(speeds), 200)
    assert swing(found[-50:]) <= 2
    latency = response(found[-1])
    # One unit is much of a small share, so the last step can go beyond the threshold.
    smallest = min(found[-1].values())
    assert max(latency.values()) <= 1.2 * min(latency.values()) * (1 + 2 / smallest)


@settings(deadline=None)
@given(st.lists(st.floats(1, 4), min_size=2, max_size=10), st.floats(0.1, 0.8))
def test_shares_settle_within_five_percent_where_tasks_queue(
    speeds: list[float], load: float
) -> None:
    assert swing(periods(queueing(speeds, load), len(speeds), 250)[-100:]) <= 5


def test_a_task_that_has_recovered_gets_its_traffic_back() -> None:
    slow, fast = queueing([0.1, 1, 1], 0.5), queueing([1, 1, 1], 0.5)
    latency, given = dict[int, float](), even(range(3))
    for period in range(200):
        latency = aged(latency, (slow if period < 100 else fast)(given), Tuning.alpha)
        given = shifted(given, latency, Tuning())
        if period == 99:
            assert given[0] < 5
    assert given[0] > 20

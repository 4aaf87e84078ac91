"""How long executors take for their partitions, and which moves make that shorter."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.state_balancing.cluster import Cluster, Node
from techniques.state_balancing.prediction import finish_ms, least_loaded, makespan_ms, plan

Times = Mapping[int, float | Mapping[int, float]]


def of(cores: int = 1, leaving: str = "", **on: tuple[float, Times]) -> Cluster:
    """Executors by name: slowness and the times of their partitions there, of one kind or by
    kind."""
    return Cluster(
        nodes={
            name: Node(name, "", cores, slow, name == leaving) for name, (slow, _) in on.items()
        },
        places={partition: name for name, (_, times) in on.items() for partition in times},
        times_ms={
            partition: each if isinstance(each, Mapping) else {1: each}
            for _, times in on.values()
            for partition, each in times.items()
        },
        interval_ms=1_000,
    )


@pytest.mark.parametrize(
    ("tasks", "cores", "expected"),
    [
        ([], 2, 0),
        ([100, 200], 4, 200),
        ([100, 100, 100], 1, 300),
        ([100, 100, 100], 2, 200),
        ([300, 100, 100, 100], 2, 300),
    ],
)
def test_tasks_go_to_the_core_that_is_free_first(
    tasks: list[float], cores: int, expected: float
) -> None:
    assert finish_ms(tasks, cores) == expected


@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.integers(1, 3))
def test_the_finish_is_at_most_a_third_above_the_best_possible(
    tasks: list[int], cores: int
) -> None:
    best = min(
        max(
            sum(t for t, on in zip(tasks, each, strict=True) if on == core) for core in range(cores)
        )
        for each in product(range(cores), repeat=len(tasks))
    )

    assert best <= finish_ms(tasks, cores) <= best * 4 / 3


def test_a_partition_takes_less_where_tasks_are_faster() -> None:
    found = plan(
        of(slow=(2.0, {0: 200, 1: 200, 2: 200}), fast=(1.0, {3: 100})), "slow", "fast", range(3)
    )

    assert found is not None
    # One leaves 400 against 200, two leave 200 against 300.
    assert found.partitions == (0, 1)
    assert (found.before_ms, found.first_ms, found.after_ms) == (600, 400, 300)


def test_the_partition_moves_that_helps_most() -> None:
    found = plan(of(a=(1.0, {0: 500, 1: 300, 2: 100}), b=(1.0, {3: 300})), "a", "b", range(3))

    assert found is not None
    assert found.partitions[0] == 1
    assert found.after_ms == 600


def test_what_may_not_move_stays() -> None:
    cluster = of(a=(1.0, {0: 500, 1: 300, 2: 100}), b=(1.0, {3: 300}))
    found = plan(cluster, "a", "b", [2])

    assert found is not None
    assert found.partitions == (2,)
    assert plan(cluster, "a", "b", []) is None


def test_no_move_is_planned_that_only_changes_who_is_late() -> None:
    assert plan(of(a=(1.0, {0: 100, 1: 100}), b=(1.0, {2: 100})), "a", "b", [0, 1]) is None


def test_moves_that_help_only_together_are_planned_together() -> None:
    cluster = of(4, slow=(3.0, {0: 300, 1: 300}), fast=(1.0, {2: 100, 3: 100}))
    found = plan(cluster, "slow", "fast", [0, 1])

    assert found is not None
    assert found.partitions == (0, 1)
    assert (found.before_ms, found.first_ms, found.after_ms) == (300, 300, 100)
    # Both have to pay for what they bring together.
    assert found.pays(cost_ms=800, batches=10)
    assert not found.pays(cost_ms=1_200, batches=10)


def test_a_surprise_of_the_last_move_between_the_two_is_expected_again() -> None:
    cluster = of(slow=(2.0, {0: 200, 1: 200}), fast=(1.0, {2: 100}))

    assert plan(cluster, "slow", "fast", [0, 1]) is not None
    assert plan(cluster, "slow", "fast", [0, 1], surprise=4.0) is None


def test_a_gain_in_one_stage_must_not_cost_more_in_another() -> None:
    """`a` is late in stage 1; but b, to which its partitions would go, is the last in stage 2."""
    cluster = of(
        a=(1.0, {0: {1: 100, 2: 300}, 1: {1: 100, 2: 10}, 4: {1: 400, 2: 10}}),
        b=(1.0, {2: {1: 10, 2: 300}}),
    )
    found = plan(cluster, "a", "b", [0, 1, 4])

    assert found is not None
    assert 0 not in found.partitions


def test_what_two_executors_gain_must_not_cost_all_of_them_more() -> None:
    """In stage 1 everyone waits for c anyway; in stage 2 the move would make b the last."""
    both = {0: {1: 200, 2: 50}, 1: {1: 200, 2: 50}}
    early, late = (1.0, {2: {1: 10, 2: 100}}), (1.0, {3: {1: 500, 2: 10}})

    assert plan(of(a=(1.0, both), b=early, c=late), "a", "b", [0, 1]) is None
    assert plan(of(a=(1.0, both), b=early), "a", "b", [0, 1]) is not None


def test_a_small_gain_is_taken_for_noise() -> None:
    cluster = of(a=(1.0, dict.fromkeys(range(20), 100)), b=(1.0, dict.fromkeys(range(20, 38), 100)))
    found = plan(cluster, "a", "b", range(20))

    assert found is not None
    assert found.gain_ms == 100
    assert not found.pays(cost_ms=0, batches=1_000)


def test_partitions_of_an_executor_that_goes_spread_by_load_and_speed() -> None:
    cluster = of(
        leaving="c",
        a=(1.0, {0: 100}),
        b=(2.0, {1: 100}),
        c=(1.0, {2: 100, 3: 100, 4: 100}),
    )

    # On b they would take 200 ms each.
    assert sorted(least_loaded(cluster, "c").values()) == ["a", "a", "b"]
    assert set(least_loaded(cluster, "c")) == {2, 3, 4}


def test_with_nobody_else_there_they_stay() -> None:
    assert least_loaded(of(leaving="c", c=(1.0, {2: 100})), "c") == {}


def test_stages_of_a_batch_come_one_after_the_other() -> None:
    assert makespan_ms(of(a=(1.0, {0: {1: 100, 2: 10}}), b=(1.0, {1: {1: 10, 2: 200}}))) == 300

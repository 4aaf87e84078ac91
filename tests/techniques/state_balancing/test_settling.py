"""The controller in the loop: it settles, does not oscillate, and leaves an even cluster alone."""

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.state_balancing.prediction import LEAST_GAIN
from techniques.state_balancing.simulation import Machine, Simulation
from tests.techniques.state_balancing.driving import driven, of_three

machines = st.lists(
    st.builds(Machine, cores=st.sampled_from((1, 2, 4)), slowness=st.sampled_from((1.0, 1.5, 3.0))),
    min_size=2,
    max_size=4,
)


@st.composite
def simulations(draw: st.DrawFn) -> Simulation:
    there = {str(at + 1): each for at, each in enumerate(draw(machines))}
    works = draw(st.lists(st.sampled_from((100.0, 150.0, 200.0, 400.0)), min_size=2, max_size=8))
    at = {partition: draw(st.sampled_from(sorted(there))) for partition in range(len(works))}
    return Simulation(there, dict(enumerate(works)), at, trigger_ms=2_000)


@given(simulations())
@settings(max_examples=20)
def test_from_any_placement_it_settles_and_leaves_nothing_worse(simulation: Simulation) -> None:
    began_ms = simulation.makespan_ms
    driver = driven(simulation, 300)
    settled = len(driver.moves)
    # No verdict is forgotten within this time: what was found out still counts.
    driver.drive(200)

    assert simulation.makespan_ms <= began_ms * (1 + LEAST_GAIN)
    assert len(driver.moves) == settled <= 3 * len(simulation.places)


@given(simulations())
@settings(max_examples=10)
def test_a_partition_that_moved_stays_for_three_periods(simulation: Simulation) -> None:
    times = defaultdict(list)
    for at_s, partition in driven(simulation, 200, period=10.0).moves:
        times[partition].append(at_s)

    assert all(b - a >= 30 for each in times.values() for a, b in pairwise(each))


def test_with_one_of_three_at_half_speed_it_comes_within_a_partition_of_the_optimum() -> None:
    simulation = of_three()
    assert simulation.makespan_ms == 1_600
    driver = driven(simulation, 120)

    # Two partitions on the slow one and five on either other: 1 s. A partition is 200 ms.
    assert simulation.makespan_ms <= 1_000 + 200
    assert simulation.makespans_ms[-1] == pytest.approx(simulation.makespan_ms)
    assert len(driver.moves) <= 3


@pytest.mark.parametrize("seed", range(6))
def test_it_does_so_with_noise_as_well(seed: int) -> None:
    simulation = of_three(noise=0.2, seed=seed)
    driven(simulation, 120)

    assert simulation.makespan_ms <= 1_200


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_an_even_cluster_with_noise_of_a_fifth_sees_no_move(cores: int, seed: int) -> None:
    machines = {str(name): Machine(cores) for name in range(3)}
    places = {partition: str(partition % 3) for partition in range(13)}
    even = Simulation(machines, dict.fromkeys(range(13), 300.0), places, noise=0.2, seed=seed)

    assert driven(even, 120).moves == []


def test_an_executor_that_is_slow_only_for_a_moment_keeps_its_partitions() -> None:
    simulation = of_three(slowness=1.0)
    driver = driven(simulation, 30)
    simulation.machines["2"] = Machine(slowness=6.0)
    simulation.batch()
    simulation.machines["2"] = Machine()

    assert driver.drive(60).moves == []


def test_from_a_move_that_made_it_worse_it_learns_what_is_slow() -> None:
    """Two partitions of four times the work look as if their executor were slow; once one of them
    has moved and takes as long there, the others are known to be light."""
    works = {**dict.fromkeys((0, 1), 800.0), **dict.fromkeys(range(2, 7), 200.0)}
    places = {partition: "1" if partition < 2 else "2" for partition in works}
    simulation = Simulation({"1": Machine(), "2": Machine()}, works, places)
    driver = driven(simulation, 200)

    assert any("made the two finish later" in each.reason for each in driver.decisions)
    # The best there is: 800 and three times 200 on either, or two and three of them.
    assert simulation.makespan_ms == 1_400
    assert len(driver.moves) == 3


def test_several_slow_tasks_side_by_side_leave_together_or_not_at_all() -> None:
    """One move alone would bring nothing: the other task of the slow executor is as late."""
    machines = {"1": Machine(4), "2": Machine(4, slowness=3.0)}
    places = {0: "1", 1: "1", 2: "2", 3: "2"}
    simulation = Simulation(machines, dict.fromkeys(range(4), 400.0), places)
    driven(simulation, 120)

    assert set(simulation.places.values()) == {"1"}
    assert simulation.makespan_ms == 400


def test_an_executor_that_joins_gets_its_share() -> None:
    machines = {"1": Machine(), "2": Machine()}
    simulation = Simulation(
        machines, dict.fromkeys(range(12), 200.0), {p: "12"[p % 2] for p in range(12)}
    )
    driver = driven(simulation, 30)
    assert driver.moves == []
    simulation.machines["3"] = Machine()
    driver.drive(120)

    counts = sorted(list(simulation.places.values()).count(name) for name in "123")
    assert counts == [4, 4, 4]


def test_an_executor_about_to_go_is_emptied_at_once() -> None:
    simulation = of_three(slowness=1.0)
    driver = driven(simulation, 20)
    simulation.machines["3"] = Machine(leaving=True)
    driver.drive(6)

    counts = sorted(list(simulation.places.values()).count(name) for name in "123")
    assert counts == [0, 6, 6]
    assert "leave an executor that is about to go" in driver.decisions[-1].reason


def test_a_move_that_would_not_pay_back_is_not_made() -> None:
    assert driven(of_three(), 60, move_cost=20.0).moves == []
    assert driven(of_three(), 60, payback=1.0).moves == []


def test_what_a_move_costs_is_measured_on_the_job() -> None:
    driver = driven(of_three(load_ms=1_500.0), 60)

    assert driver.decision is not None
    assert driver.decision.memory["cost_ms"] == pytest.approx(1_500)

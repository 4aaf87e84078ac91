"""What the controller says of a job, what it decides, and what it remembers."""

from dataclasses import replace
from itertools import pairwise

import pytest

from techniques.model import Conditions, Decision, Mode, Past, Scalar
from techniques.options import checked
from techniques.state_balancing.controller import conditions, decide
from techniques.state_balancing.simulation import Machine, Simulation
from techniques.state_balancing.technique import TECHNIQUE
from techniques.view import Executor, View
from tests.techniques.state_balancing.driving import Driver, driven, of_three, wishes
from tests.techniques.state_balancing.views import Task, executors, view


def batches(simulation: Simulation, number: int = 20) -> Simulation:
    for _ in range(number):
        simulation.batch()
    return simulation


def said(simulation: Simulation) -> Conditions:
    return conditions(simulation.view())


def decided(of: View, past: Past, **given: Scalar) -> Decision | None:
    return decide(of, checked(TECHNIQUE.options, given), past)


def even(**about: float) -> Simulation:
    return of_three(slowness=1.0, **about)


def skewed() -> Simulation:
    """Equal executors, and a partition on executor 2 that has ten times as much work."""
    made = even()
    return replace(made, work_ms={**made.work_ms, 4: 2_000.0})


def test_a_slow_executor_is_named_with_how_slow_it_is_and_the_chance_of_that() -> None:
    found = said(batches(of_three()))

    assert found.hold
    assert "tasks on executor 2 are done after 2.0 × the time" in found.why
    assert "(p = " in found.why


def test_while_it_acts_it_says_what_moved_and_how_it_is_since() -> None:
    simulation = of_three(slowness=4.0)
    driven(simulation, seconds=90)
    found = said(simulation)

    assert found.hold
    assert "moved in the last two minutes, and" in found.why


def test_even_executors_have_nothing_to_move() -> None:
    found = said(batches(even(noise=0.2)))

    assert found.hold is False
    assert found.why.startswith("the executors are even: nothing to move")


def test_a_partition_that_is_slow_wherever_it_is_is_named_instead() -> None:
    found = said(batches(skewed()))

    assert found.hold is False
    assert found.why.startswith("partition 4 is slow wherever it is: its tasks take 10.0 ×")
    assert "skewed" in found.why


def test_beside_such_a_partition_a_slow_executor_is_still_found() -> None:
    made = skewed()
    made.machines["2"] = Machine(slowness=3.0)

    assert "executor 2" in said(batches(made)).why


@pytest.mark.parametrize(
    ("of", "hold", "why"),
    [
        (view([], seconds=0), None, "nothing is known"),
        (view([]), None, "nothing is known"),
        (view([Task(1, 0, "1", 0, 100, stateful=False)]), False, "none of its stages keeps state"),
        (view([Task(1, 0, "driver", 0, 100)], executors("driver")), False, "local master"),
        (view([Task(1, 0, "1", 0, 100)], executors("driver", "1")), False, "one executor"),
        (view([Task(1, 0, "1", 0, 100)]), False, "one executor"),
        (view([Task(1, 0, "1", 0, 100)], executors("1", "2")), None, "too few stages"),
    ],
)
def test_elsewhere_it_says_why_not(of: View, hold: bool | None, why: str) -> None:
    found = conditions(of)

    assert found.hold is hold
    assert why in found.why
    assert decided(of, Past(Mode.ACT, "run")) is None


def test_an_executor_that_left_does_not_count() -> None:
    made = batches(of_three()).view()
    gone = [replace(each, left_ms=made.end_ms) for each in made.executors if each.id != "1"]

    assert "one executor" in conditions(replace(made, executors=[*gone, Executor("1", "")])).why


def test_an_executor_without_state_or_about_to_go_is_a_reason_to_move() -> None:
    made = even()
    made.machines["4"] = Machine()
    assert said(batches(made)) == Conditions(True, "executor 4 has no state partition yet")
    del made.machines["4"]
    made.machines["1"] = Machine(leaving=True)
    assert "executor 1 is about to go and has 4 state partitions" in said(made).why


def test_advice_is_what_it_would_do_and_given_only_where_the_conditions_hold() -> None:
    found = decided(batches(of_three()).view(), Past(Mode.ADVISE, "run"))

    assert found is not None
    assert found.settings == {"places": {"1": "1"}}
    assert found.reason == (
        "partition 1 moves from executor 2 to 1, because that is predicted to let the two finish "
        "after 1.2 s instead of 1.6 s"
    )
    names = [each.name for each in found.evidence]
    assert "aged latency of executor 2 (Wt)" in names
    assert "cost of a move" in names
    assert decided(batches(even()).view(), Past(Mode.ADVISE, "run")) is None
    assert decided(batches(skewed()).view(), Past(Mode.ADVISE, "run")) is None


def test_the_same_advice_is_given_once_and_taken_back_when_it_is_over() -> None:
    first = decided(batches(of_three()).view(), Past(Mode.ADVISE, "run"))

    assert decided(batches(of_three()).view(), Past(Mode.ADVISE, "run", first)) is None
    later = decided(batches(even()).view(), Past(Mode.ADVISE, "run", first))
    assert later is not None
    assert later.settings == {"places": {}}


def test_asked_to_act_on_even_executors_it_holds_nothing_and_says_so_once() -> None:
    driver = driven(even(), 60)

    (only,) = driver.decisions
    assert only.settings == {"places": {}}
    assert only.reason.startswith("nothing moves: the executors are even")


def test_all_wishes_in_force_are_in_every_decision() -> None:
    driver = driven(of_three(), 120)

    assert driver.decision is not None
    assert wishes(driver.decision) == {
        partition: driver.simulation.places[partition] for _, partition in driver.moves
    }
    assert len(driver.moves) == 2


def test_a_pair_moves_one_partition_in_a_period() -> None:
    simulation = of_three(slowness=8.0)
    driver = driven(simulation, 120, period=20.0)

    times = [at_s for at_s, _ in driver.moves]
    assert len(times) >= 3
    assert all(after - before >= 20 for before, after in pairwise(times))


def test_a_new_run_starts_afresh() -> None:
    driver = driven(of_three(), 30)
    assert driver.moves
    driver.run = "another"
    driver.drive(6)

    assert driver.decision is not None
    assert wishes(driver.decision) == {}
    assert driver.decision.memory["run"] == "another"
    assert driver.decision.memory["moves"] == []


def test_wishes_for_executors_that_left_are_dropped() -> None:
    driver = driven(of_three(), 30)
    assert driver.decision is not None
    partition, to = next(iter(wishes(driver.decision).items()))
    del driver.simulation.machines[to]
    for each, at in driver.simulation.places.items():
        if at == to:
            driver.simulation.places[each] = "2"
    driver.drive(6)

    assert partition not in wishes(driver.decision)


def test_a_partition_that_spark_took_elsewhere_is_not_fought_over() -> None:
    driver = driven(of_three(), 120)
    assert driver.decision is not None
    partition, to = next(iter(wishes(driver.decision).items()))
    driver.simulation.places[partition] = next(name for name in "123" if name != to)
    moved = len(driver.moves)
    driver.drive(20)

    assert partition not in wishes(driver.decision)
    assert partition not in [each for _, each in driver.moves[moved:]]


class Disappointing(Driver):
    """Every move brings a noisy neighbour with it: the partition takes four times as long there."""

    def _decide(self) -> None:
        before = len(self.moves)
        super()._decide()
        slower = {each: self.simulation.work_ms[each] * 4 for _, each in self.moves[before:]}
        self.simulation.work_ms = {**self.simulation.work_ms, **slower}


def test_a_move_that_did_not_bring_its_gain_is_not_repeated() -> None:
    driver = Disappointing(of_three()).drive(300)

    assert driver.decision is not None
    verdicts = {each["verdict"] for each in driver.decision.memory["moves"]}
    assert verdicts & {"failed", "worse"}
    made = [(each["partition"], each["target"]) for each in driver.decision.memory["moves"]]
    assert len(made) == len(set(made))
    assert any("not repeated" in each.reason for each in driver.decisions) or "worse" in verdicts


def test_wishes_that_nobody_carries_out_are_given_up() -> None:
    simulation = of_three()
    driver = Driver(simulation)
    simulation.move = lambda wishes: []  # type: ignore[method-assign]
    driver.drive(120)

    assert driver.decision is not None
    failed = [each for each in driver.decision.memory["moves"] if each["verdict"] == "failed"]
    assert failed
    assert set(wishes(driver.decision)).isdisjoint(each["partition"] for each in failed)


def test_while_the_job_refuses_it_decides_nothing_more() -> None:
    of = batches(of_three()).view()

    assert decided(of, Past(Mode.ACT, "run", None, "there is only one executor")) is None


def test_a_wish_that_the_job_refuses_is_dropped_and_not_repeated() -> None:
    """Spark ran a partition elsewhere each time it was told, so that the lever gave it up."""
    of = batches(of_three()).view()
    first = decided(of, Past(Mode.ACT, "run"))
    assert first is not None
    assert wishes(first)

    second = decided(of, Past(Mode.ACT, "run", first, "Spark ran partition 1 on executor 2"))

    assert second is not None
    assert wishes(second) == {}
    assert second.reason == (
        "the wish for partition 1 is dropped: the job refused it (Spark ran partition 1 on "
        "executor 2)"
    )
    assert [each["verdict"] for each in second.memory["moves"]] == ["failed"]
    # The job may go on to refuse for another reason: then nothing more is tried.
    assert decided(of, Past(Mode.ACT, "run", second, "task_copies owns the placement")) is None
    third = decided(of, Past(Mode.ACT, "run", second))
    assert third is None or 1 not in wishes(third)


def test_wishes_that_were_met_outlast_a_refusal() -> None:
    driver = driven(of_three(), 120)
    met = driver.decision
    assert met is not None
    assert wishes(met)

    past = Past(Mode.ACT, "run", met, "task_copies owns the placement of state")
    assert decided(driver.simulation.view(), past) is None


def test_garbage_in_the_memory_is_no_memory() -> None:
    of = batches(of_three()).view()
    odd = Decision({"places": {"3": "1"}}, "", memory={"run": "run", "moves": [{"partition": 1}]})
    found = decided(of, Past(Mode.ACT, "run", odd))

    assert found is not None
    assert found.memory["run"] == "run"

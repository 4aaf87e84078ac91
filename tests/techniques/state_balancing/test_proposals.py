"""Which moves are proposed beside the pairs of Algorithm 2, and which are left out."""

from dataclasses import replace

from techniques.state_balancing.memory import Memory, Move, Verdict
from techniques.state_balancing.proposals import MOVE_COST_MS, Terms, proposed
from techniques.state_balancing.simulation import START_MS, Machine, Simulation
from tests.techniques.state_balancing.driving import of_three

# Nobody is slow by so much: only what was worse goes back.
NO_PAIRS = Terms(threshold=10.0)
WORSE = Move(0, "1", "2", START_MS, START_MS, 0.25, 0.25, Verdict.WORSE, surprise=4.0)


def after_it() -> Simulation:
    """Partition 0 went to executor 2, where it takes as long as before."""
    works = {**dict.fromkeys((0, 1), 800.0), **dict.fromkeys(range(2, 7), 200.0)}
    places = {partition: "1" if partition == 1 else "2" for partition in works}
    made = Simulation({"1": Machine(), "2": Machine()}, works, places)
    for _ in range(20):
        made.batch()
    return made


def remembered(*moves: Move) -> Memory:
    return Memory("run", ("1", "2"), START_MS, None, moves)


def test_a_move_that_made_it_worse_goes_back() -> None:
    (back,) = proposed(after_it().view(), remembered(WORSE), NO_PAIRS).plans

    assert (back.partitions, back.source, back.target) == ((0,), "2", "1")
    assert (back.before_ms, back.after_ms) == (1_800, 1_600)


def test_it_stays_where_the_way_back_does_not_pay_or_is_gone() -> None:
    view = after_it().view()
    dear = replace(NO_PAIRS, cost_ms=60_000.0)
    failed = replace(WORSE, verdict=Verdict.FAILED)
    going = after_it()
    going.machines["1"] = Machine(leaving=True)

    assert proposed(view, remembered(WORSE), dear).plans == ()
    assert proposed(view, remembered(failed), NO_PAIRS).plans == ()
    assert proposed(going.view(), remembered(WORSE), NO_PAIRS).plans == ()


def test_it_does_not_go_back_before_three_periods_are_over() -> None:
    view = after_it().view()
    lately = replace(WORSE, at_ms=view.end_ms - 29_000)

    assert proposed(view, remembered(lately), NO_PAIRS).plans == ()


def test_a_way_that_failed_is_left_out_for_that_partition() -> None:
    simulation = of_three()
    for _ in range(20):
        simulation.batch()
    first = proposed(simulation.view(), remembered(), Terms()).plans[0]
    failed = Move(
        first.partitions[0], first.source, first.target, START_MS, 0, 0.2, 0.5, Verdict.FAILED
    )
    (other,) = proposed(simulation.view(), remembered(failed), Terms()).plans

    assert failed.partition not in other.partitions


def test_a_cost_that_is_set_counts_before_one_that_was_measured() -> None:
    measured = replace(remembered(), cost_ms=300.0)

    assert Terms().move_cost_ms(remembered()) == MOVE_COST_MS
    assert Terms().move_cost_ms(measured) == 300
    assert Terms(cost_ms=100).move_cost_ms(measured) == 100

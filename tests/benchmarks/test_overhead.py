"""What the overhead benchmark makes of its turns, without running any."""

import pytest

from benchmarks import overhead, overhead_job
from benchmarks.arms import Plan
from benchmarks.overhead import BARE, EVENT_LOG, FULL, OURS, QUICK
from benchmarks.turns import Reading, Turn


def turn(took_s: float, cpu_s: float, others: float = 0.0, batches: int = 4) -> Turn:
    began = Reading(0, 0, 0, 0, 0, {7: 0.0}, {})
    host_s = cpu_s + others * took_s
    ended = Reading(took_s, 0, host_s, cpu_s, 0, {7: cpu_s / 50}, {"curtail-sampler": cpu_s / 100})
    return Turn(0, batches, began, ended)


def test_a_ratio_is_taken_within_each_round() -> None:
    rounds = [{BARE: turn(1, 1), OURS: turn(2, 1.5)}, {BARE: turn(10, 4), OURS: turn(20, 6)}]
    assert overhead.over(rounds, OURS, overhead.rows_per_s).rounded(3) == (0.5, 0.5, 0.5)
    assert overhead.over(rounds, OURS, overhead.cpu_us_per_row).rounded(3) == (1.5, 1.5, 1.5)


def test_an_arm_that_is_not_in_every_round_is_compared_where_it_is() -> None:
    rounds = [{BARE: turn(1, 1), EVENT_LOG: turn(2, 1)}, {BARE: turn(1, 1), OURS: turn(1, 1)}]
    assert overhead.over(rounds, EVENT_LOG, overhead.rows_per_s).mean == pytest.approx(0.5)


def test_a_round_in_which_somebody_else_worked_is_thrown_away() -> None:
    quiet = {BARE: turn(1, 1, others=0.1), OURS: turn(1, 1, others=0.12)}
    noisy = {BARE: turn(1, 1, others=0.1), OURS: turn(1, 1, others=0.5)}
    assert overhead.undisturbed([quiet, noisy, quiet]) == [quiet, quiet]


def test_on_a_machine_that_is_never_quiet_all_rounds_stay() -> None:
    rounds = [{BARE: turn(1, 1, others=o), OURS: turn(1, 1)} for o in (0.3, 0.6, 0.9, 0.0)]
    assert len(overhead.undisturbed(rounds)) == 4


def test_a_percentile_is_of_enough_batches_or_of_all_there_are() -> None:
    rounds = [{BARE: turn(1, 1), OURS: turn(1, 1)}] * 3
    jams = {
        BARE: {"batch_ms": {str(batch): 100 for batch in range(9)}},
        OURS: {"batch_ms": {str(batch): 110 for batch in range(9)}},
    }
    each = overhead.batches_ratio(rounds, jams, 50, at_least=1)
    assert each.rounded(3) == (1.1, 1.1, 1.1)
    together = overhead.batches_ratio(rounds, jams, 99, at_least=100)
    assert together.rounded(3) == (1.1, None, None)


@pytest.mark.parametrize("plan", [FULL, QUICK])
def test_the_pair_is_in_every_round_and_as_often_in_either_order(plan: Plan) -> None:
    first = [order.index(BARE) < order.index(OURS) for order in plan.orders]
    assert 2 * sum(first) == len(plan.orders)
    assert all(abs(order.index(BARE) - order.index(OURS)) == 1 for order in plan.orders)


@pytest.mark.parametrize("plan", [FULL, QUICK])
def test_the_job_understands_what_a_plan_tells_it(plan: Plan) -> None:
    needed = ("--job", "j", "--redis", "r", "--folder", "f", "--jam-rows", "1")
    for arm in plan.arms:
        words = ("--arm", arm, *needed, *plan.words.get(arm, ()))
        options = overhead_job.arguments().parse_args(words)
        assert bool(options.rounds) is (arm == OURS)

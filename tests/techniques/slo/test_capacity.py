from dataclasses import replace

import numpy as np
import pytest

from techniques.slo.capacity import machines, pool_operators, slots
from techniques.view import Executor
from tests.techniques.pool.views import One, pool
from tests.techniques.slo.views import crowded, job, on_spark


def test_the_capacity_of_an_operator_is_executed_times_latency_over_time_at_its_busiest() -> None:
    # Equation 3: 100 chunks of 3 ms in a second are 0.3, 100 of 6 ms are 0.6.
    [score] = pool_operators(job(pool([One(100, 3.0), One(100, 6.0)], 120)))

    assert score.capacity == pytest.approx(0.6, rel=0.01)
    assert score.instances == 2
    assert score.executed_per_s == pytest.approx(200, rel=0.01)
    assert score.true_per_s == pytest.approx(200 / 0.9, rel=0.01), "per second of work"


def test_operators_of_a_chain_stand_for_themselves() -> None:
    view = job(pool([One(50, 2.0, operator="parse"), One(50, 10.0, operator="score")], 120))

    assert {each.name: round(each.capacity, 2) for each in pool_operators(view)} == {
        "parse": 0.1,
        "score": 0.5,
    }


def test_the_same_pool_on_several_hosts_counts_its_instances_per_host() -> None:
    here, there = pool([One()] * 3, 120), pool([One(work_ms=8.0)] * 2, 120, host="node-b")
    [score] = pool_operators(job(here, there))

    assert (score.instances, score.hosts) == (3, 2)
    assert score.capacity == pytest.approx(0.8, rel=0.01)


def test_an_instance_that_is_gone_does_not_count() -> None:
    made = pool([One(), One(work_ms=9.0)], 120)
    made.instances[1].busy[:] = np.nan

    assert pool_operators(job(made))[0].instances == 1


def test_slots_are_as_busy_as_those_of_the_busiest_executor() -> None:
    found = slots(on_spark({"1": 0.4, "2": 1.0}, cores=2))

    assert found is not None
    assert (found.executors, found.cores, found.total) == (2, 2, 4)
    assert found.capacity == pytest.approx(0.5, rel=0.02)
    assert found.waiting == 0.0


def test_executors_that_left_or_leave_give_no_slots() -> None:
    view = on_spark({"1": 0.4, "2": 0.4, "3": 0.4})
    gone, leaving, stays = view.executors
    view = replace(
        view, executors=(replace(gone, left_ms=1), replace(leaving, leaving=True), stays)
    )

    found = slots(view)
    assert found is not None
    assert found.executors == 1


def test_what_is_not_known_of_slots_is_not_made_up() -> None:
    assert slots(job()) is None
    found = slots(job(executors=(Executor("1", "a"),)))
    assert found is not None
    assert found.capacity is None


def test_the_share_of_time_in_which_tasks_wait_is_told() -> None:
    view = on_spark({"1": 0.4}, waiting=1.0)
    view.waiting_tasks[1::2] = 0
    found = slots(view)

    assert found is not None
    assert found.waiting == pytest.approx(0.5)


def test_a_host_of_several_jobs_is_one_machine() -> None:
    one, other = crowded(job(), "a", 0.9), crowded(crowded(job(), "a", 0.8), "b", 0.1)
    found = machines((one, other))

    assert [each.load for each in found] == pytest.approx([7.2, 0.8])
    assert [each.is_congested for each in found] == [True, False]

"""Rules on operator pools: which instance is at fault, and the technique that helps."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.detection import find_all
from techniques.detection.finding import Finding
from techniques.detection.rules import backlog_imbalance, queue_growth, straggler
from techniques.registry import Registry
from techniques.view import View
from tests.techniques.detection.traces import PLANTED, Setting, trace
from tests.techniques.pool.views import One, pool, seen, view
from tests.techniques.state_balancing.views import Task, tasks

FAST, SLOW = One(), One(work_ms=9.0, wait_ms=11.0)


def only(kind: str, found: list[Finding]) -> Finding:
    (finding,) = [each for each in found if each.kind == kind]
    return finding


def with_pool(of: View, *instances: One, policy: int = 0) -> View:
    return replace(of, pools=(pool(instances, len(of) // 20, policy=policy),))


def test_an_instance_that_is_much_slower_than_its_siblings_is_a_straggler() -> None:
    finding = only("straggler", find_all(seen(FAST, FAST, SLOW, FAST)))

    assert finding.title == "score-2 of pool scores takes 5.0 times as long as its siblings"
    assert finding.technique == "latency_balancing"
    assert finding.added_ms == pytest.approx(16)
    assert 0 < finding.p_value < 1e-4


@pytest.mark.parametrize(
    "instances",
    [
        (FAST, FAST, FAST),
        (SLOW,),
        # Slower by a little, a call that hung once, and too few chunks to say.
        (FAST, One(work_ms=4.0)),
        (FAST, One(tail_every=1_500, tail_ms=9_000)),
        (One(chunks_per_s=20), One(chunks_per_s=20, work_ms=30)),
    ],
)
def test_instances_that_are_not_persistently_slower_are_none(instances: tuple[One, ...]) -> None:
    few = instances[0].chunks_per_s < 100
    of = view(pool(instances, 1 if few else 60), seconds=1 if few else 60)
    if few:
        for each in of.pools[0].instances:
            each.latency.count[10:] = 0

    assert [each for each in find_all(of) if each.kind == "straggler"] == []


def test_equal_instances_with_a_heavy_tail_are_hardly_ever_stragglers() -> None:
    found = 0
    for seed in range(40):
        of = seen(FAST, FAST, FAST, FAST)
        random = np.random.default_rng(seed)
        for each in of.pools[0].instances:
            each.latency.ms[:] = random.lognormal(1.0, 1.2, len(each.latency))
        found += any(each.kind == "straggler" for each in find_all(of))

    assert found <= 1


@pytest.mark.parametrize(
    ("executor", "stateful", "technique"),
    [("2", True, "state_balancing"), ("2", False, None), ("1", True, None)],
)
def test_a_slow_executor_leads_to_balancing_only_if_it_has_state_to_give_away(
    executor: str, stateful: bool, technique: str | None
) -> None:
    """Executor 2 is the slow one."""
    slow = replace(
        trace(PLANTED["straggler"]), tasks=tasks([Task(0, 0, executor, 0, 100, stateful=stateful)])
    )

    assert only("straggler", find_all(slow)).technique == technique


def test_a_queue_in_front_of_an_instance_leads_to_balancing() -> None:
    finding = only("backlog_imbalance", find_all(trace(PLANTED["backlog_imbalance"])))

    assert finding.technique == "latency_balancing"


def test_an_outgoing_backlog_leads_to_the_largest_first() -> None:
    finding = only("backlog_imbalance", find_all(seen(One(), One(parked=9.0), One())))

    assert finding.title.startswith("The outgoing queue of score-1 holds 3.0 times the average")
    assert finding.technique == "largest_backlog"


@pytest.mark.parametrize(
    ("instances", "policy", "technique"),
    [((FAST, FAST), 0, "shared_queue"), ((FAST, FAST), 4, None), ((FAST,), 0, None), ((), 0, None)],
)
def test_a_growing_backlog_leads_to_the_shared_queue_of_a_pool(
    instances: tuple[One, ...], policy: int, technique: str | None
) -> None:
    growing = trace(Setting(growth_per_s=40.0))
    of = with_pool(growing, *instances, policy=policy) if instances else growing

    assert only("queue_growth", find_all(of)).technique == technique


def test_the_techniques_that_are_named_are_there() -> None:
    named = {straggler.TECHNIQUE, straggler.IN_POOLS}
    named |= {queue_growth.IN_POOLS, backlog_imbalance.OUTGOING}

    assert named <= set(Registry().techniques)

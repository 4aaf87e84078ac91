"""The controller in a closed loop with a simulated cluster, where stages have stragglers."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from techniques.adaptive_timeout.algorithm import percentile
from techniques.model import Decision, Mode, Past
from techniques.options import checked
from techniques.task_copies.controller import conditions, decide
from techniques.task_copies.technique import TECHNIQUE
from techniques.view import Executor, View
from tests.techniques.task_copies.simulation import Cluster, Workload
from tests.techniques.task_copies.views import view

HOSTS = tuple(Executor(str(number), f"node-{number}") for number in (1, 2, 3, 4))
OPTIONS = checked(TECHNIQUE.options, {})
PERIOD = 30
ROUNDS = 10


def steered(workload: Workload, seed: int) -> tuple[Cluster, list[float]]:
    """Runs half a minute without copies and then period after period, each with the timeout that
    the controller makes of the one before; returns the timeouts as well."""
    cluster = Cluster(workload, Random(seed))
    past = Past(Mode.ACT)
    timeouts = []
    for _ in range(ROUNDS + 1):
        for _ in range(PERIOD):
            cluster.batch()
        decision = decide(seen(cluster), OPTIONS, past)
        assert decision is not None
        past = replace(past, decision=decision)
        cluster.cost_ms = of_the_stage(decision, "costs_ms")
        cluster.timeout_ms = of_the_stage(decision, "timeouts_ms")
        timeouts.append(cluster.timeout_ms)
    return cluster, timeouts


def seen(cluster: Cluster) -> View:
    seconds = len(cluster.makespans_ms)
    recent = [row for row in cluster.rows if row.end_ms >= (seconds - PERIOD) * 1_000]
    return view(recent, seconds=seconds, executors=HOSTS)


def of_the_stage(decision: Decision, name: str) -> float:
    held = decision.settings[name]
    assert isinstance(held, Mapping)
    ms = held["0"]
    assert isinstance(ms, int)
    return ms


def plain(workload: Workload, seed: int) -> Cluster:
    cluster = Cluster(workload, Random(seed))
    for _ in range(PERIOD * (ROUNDS + 1)):
        cluster.batch()
    return cluster


def p99(makespans_ms: list[float]) -> float:
    return percentile(sorted(makespans_ms), 990)


@pytest.mark.parametrize("seed", range(4))
def test_stragglers_are_cut_within_the_budget(seed: int) -> None:
    cluster, timeouts = steered(Workload(), seed)

    before, since = plain(Workload(), seed).makespans_ms, cluster.makespans_ms[PERIOD:]
    assert p99(since) < 0.5 * p99(before)
    assert cluster.copies_ms <= 0.05 * cluster.task_ms
    # It neither runs away nor swings: p90 of the ordinary tasks, all the time.
    assert max(timeouts) < 1.2 * min(timeouts)
    usual_ms = Workload().usual_ms
    assert usual_ms < min(timeouts)
    assert max(timeouts) < 2 * usual_ms


@pytest.mark.parametrize("seed", range(4))
def test_where_no_task_straggles_hardly_any_is_copied(seed: int) -> None:
    even = Workload(stragglers=0.0)

    cluster, _ = steered(even, seed)

    made = sum(row.speculative for row in cluster.rows)
    assert made < 0.005 * len(cluster.rows)
    assert conditions(seen(cluster)).hold is False


def test_when_stragglers_are_gone_copies_end() -> None:
    """A copy of an ordinary task loses, and that shows that there is no tail any more."""
    cluster, timeouts = steered(Workload(), seed=1)
    cluster.workload = Workload(stragglers=0.0)
    for _ in range(PERIOD + 1):
        cluster.batch()

    decision = decide(seen(cluster), OPTIONS, Past(Mode.ACT))

    assert decision is not None
    assert of_the_stage(decision, "timeouts_ms") > 1.2 * timeouts[-1]

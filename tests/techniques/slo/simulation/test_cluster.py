"""The model of a cluster: nothing is lost, more load is never faster, and its size is a limit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.slo.objective import LatencyTarget, Objective
from techniques.slo.simulation.cluster import (
    PAUSE_S,
    TICK_S,
    Cluster,
    Job,
    Machines,
    Seen,
    TooMany,
    spread,
)
from techniques.slo.simulation.topologies import (
    DIAMOND,
    LINEAR,
    PAGE_LOAD,
    STAR,
    WORD_COUNT,
    Topology,
)

TOPOLOGIES = (PAGE_LOAD, WORD_COUNT, DIAMOND, STAR, LINEAR)
SMALL = Machines(count=2, cores=4)


def job(topology: Topology, threads: int = 1, name: str = "job") -> Job:
    objective = Objective(LatencyTarget(60.0))
    return Job(name, topology, objective, {each.name: threads for each in topology.operators})


def after(cluster: Cluster, rates_per_s: dict[str, float], ticks: int = 1) -> Seen:
    for _ in range(ticks):
        cluster.tick(rates_per_s)
    return cluster.seen()


def started(*jobs: Job, machines: Machines = SMALL, seed: int | None = None) -> Cluster:
    rng = None if seed is None else np.random.default_rng(seed)
    cluster = Cluster(machines, jobs, rng)
    for each in jobs:
        cluster.start(each.name)
    return cluster


@settings(max_examples=30, deadline=None)
@given(
    topology=st.sampled_from(TOPOLOGIES),
    rate_per_s=st.floats(1, 3000),
    changes=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
def test_what_comes_in_is_executed_or_queued(
    topology: Topology, rate_per_s: float, changes: list[int], seed: int
) -> None:
    cluster = started(job(topology), seed=seed)
    waiting = dict.fromkeys((each.name for each in topology.operators), 0.0)
    for threads in changes:
        seen = after(cluster, {"job": rate_per_s}, ticks=3).jobs["job"]
        for each in topology.operators:
            it = seen.operators[each.name]
            assert it.arrived == pytest.approx(
                it.executed + it.waiting - waiting[each.name], rel=1e-6, abs=1e-6
            )
            came = sum(it.arrived_of.values()) if each.parents else it.arrived
            assert it.arrived == pytest.approx(came)
            waiting[each.name] = it.waiting
        sources = sum(seen.operators[name].arrived for name in topology.sources)
        assert sources == pytest.approx(seen.arrived)
        cluster.resize("job", {each.name: threads for each in topology.operators})


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda each: each.name)
def test_more_load_is_never_faster(topology: Topology) -> None:
    most = 1.3 / max(topology.flow[it.name] * it.service_ms / 1e3 for it in topology.operators)
    latencies_ms = [
        after(started(job(topology)), {"job": share * most}, ticks=20).jobs["job"].latency_ms
        for share in np.linspace(0.05, 1.0, 12)
    ]
    assert latencies_ms == sorted(latencies_ms)
    assert latencies_ms[-1] > 20 * latencies_ms[0]


def test_a_neighbour_slows_a_job_that_has_threads_enough() -> None:
    quiet, busy = job(LINEAR, 2, "quiet"), job(LINEAR, 8, "busy")
    cluster = started(quiet, busy)
    alone = after(cluster, {"quiet": 100.0}, ticks=20)
    beside = after(cluster, {"quiet": 100.0, "busy": 1200.0}, ticks=20)
    assert max(alone.loads) < SMALL.cores < min(beside.loads)
    assert beside.jobs["quiet"].latency_ms > 1.5 * alone.jobs["quiet"].latency_ms


def test_all_machines_together_execute_no_more_than_their_cores_can() -> None:
    cluster = started(job(LINEAR, 16))
    after(cluster, {"job": 5000.0}, ticks=60)
    seen = after(cluster, {"job": 5000.0}, ticks=60)
    work_s = sum(
        seen.jobs["job"].operators[each.name].executed * each.service_ms / 1e3
        for each in LINEAR.operators
    )
    cores = SMALL.count * SMALL.cores
    assert 0.8 * cores < work_s / seen.seconds <= cores


def test_a_thread_that_is_always_busy_shows_a_capacity_of_one() -> None:
    seen = after(started(job(PAGE_LOAD)), {"job": 400.0}, ticks=20).jobs["job"]
    assert seen.operators["join"].busiest == pytest.approx(1.0)
    assert seen.operators["output"].busiest < 0.3


def test_a_change_stops_the_job_and_loses_nothing() -> None:
    assert PAUSE_S == TICK_S
    cluster = started(job(LINEAR))
    after(cluster, {"job": 100.0}, ticks=5)
    cluster.resize("job", {"second": 3})
    stopped = after(cluster, {"job": 100.0}).jobs["job"]
    assert stopped.operators["second"].threads == 3
    assert math.isnan(stopped.latency_ms)
    assert stopped.operators["spout"].waiting == pytest.approx(100.0 * PAUSE_S)
    caught_up = after(cluster, {"job": 100.0}, ticks=5).jobs["job"]
    assert caught_up.operators["third"].executed == pytest.approx(100.0 * 6 * TICK_S)


def test_the_cluster_holds_no_more_threads_than_it_has_places() -> None:
    cluster = started(job(LINEAR))
    with pytest.raises(TooMany):
        cluster.resize("job", {"second": SMALL.places})
    assert cluster.threads == len(LINEAR.operators)
    cluster.resize("job", {"second": SMALL.places - 3})
    assert cluster.threads == SMALL.places


def test_a_seed_decides_the_noise() -> None:
    one, same, other = (
        after(started(job(PAGE_LOAD), seed=seed), {"job": 200.0}, ticks=40) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_threads_are_put_on_machines_in_turn() -> None:
    assert spread(5, 3, 2).tolist() == [2, 1, 2]
    assert spread(3, 3, 1).tolist() == [1, 1, 1]


def test_a_tuple_is_split_and_merged_on_its_way() -> None:
    assert DIAMOND.flow["left"] == pytest.approx(1 / 3)
    assert DIAMOND.flow["merge"] == pytest.approx(1.0)
    assert STAR.flow["spout_1"] == pytest.approx(0.5)
    assert PAGE_LOAD.flow["output"] == pytest.approx(0.64)

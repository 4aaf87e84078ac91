"""The manual configuration of the paper's section 8.1.2: met at the median load, never changed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil

from techniques.slo.objective import meets
from techniques.slo.simulation.cluster import Cluster, Job, TooMany
from techniques.slo.simulation.juices import Juices
from techniques.slo.simulation.workloads import Workload

# How busy an operator's threads may be on idle machines. The first at which all SLOs are met is
# taken: a person gives no more than needed.
UTILISATIONS = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
TICKS = 24
MOST_MACHINES = 100


def configured(workload: Workload) -> tuple[Job, ...]:
    """Returns the jobs with the threads that a person would give them; where not all SLOs can be
    met, those with which the utility is highest."""
    best, highest = workload.jobs, -1.0
    for utilisation in UTILISATIONS:
        jobs = tuple(
            replace(job, threads=sized(job, workload.median_per_s[job.name], utilisation))
            for job in workload.jobs
        )
        try:
            met, utility = reached(workload, jobs)
        except TooMany:
            break
        if met:
            return jobs
        if utility > highest:
            best, highest = jobs, utility
    return best


def least_machines(alone: Callable[[int], Workload]) -> int:
    """Returns on how many machines a workload first meets all SLOs when a person configures it."""
    return next(
        machines
        for machines in range(1, MOST_MACHINES)
        if reached(alone(machines), configured(alone(machines)))[0]
    )


def sized(job: Job, rate_per_s: float, utilisation: float) -> Mapping[str, int]:
    flow = job.topology.flow
    return {
        each.name: max(1, ceil(rate_per_s * flow[each.name] * each.service_ms / 1e3 / utilisation))
        for each in job.topology.operators
    }


def reached(workload: Workload, jobs: tuple[Job, ...]) -> tuple[bool, float]:
    """Returns whether all meet their SLOs at the median load, without noise, and the utility."""
    cluster = Cluster(workload.machines, jobs)
    for job in jobs:
        cluster.start(job.name)
    for _ in range(TICKS):
        cluster.tick(workload.median_per_s)
    cluster.seen()
    for _ in range(TICKS):
        cluster.tick(workload.median_per_s)
    seen = cluster.seen()
    juices = Juices({job.name: job for job in jobs}).after(seen)
    found = [(job.objective, seen.jobs[job.name].latency_ms, juices.get(job.name)) for job in jobs]
    met = all(meets(*each) for each in found)
    return met, sum(objective.utility(ms, juice) or 0.0 for objective, ms, juice in found)

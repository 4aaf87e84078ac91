"""A workload on the simulated cluster, under one of several ways to give its jobs threads.

- `default`: each operator keeps the threads that it starts with;
- `manual`: a person configured each job to meet its SLO at the median load, and nothing changes;
- `henge`, `ds2`: the state machine acts, with one or the other rule for the size of its steps. Jobs
  start as by default, and it is held back for the first 900 s as in the paper;
- `henge_strict`: as `henge`, but any fall of the total utility counts as in the paper, not only one
  of more than 2 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from techniques.slo.memory import Kind
from techniques.slo.parameters import Parameters, Sizing
from techniques.slo.simulation.cluster import TICK_S, Cluster, Floats, Job
from techniques.slo.simulation.control import Control
from techniques.slo.simulation.juices import Juices
from techniques.slo.simulation.manual import configured
from techniques.slo.simulation.workloads import HELD_BACK_S, Workload

ROUND_S = 10.0
TICKS = round(ROUND_S / TICK_S)


class Arm(StrEnum):
    DEFAULT = "default"
    MANUAL = "manual"
    HENGE = "henge"
    DS2 = "ds2"
    STRICT = "henge_strict"


# The default of the technique's card.
TOLERANCE = 0.02
PARAMETERS: Mapping[Arm, Parameters] = {
    Arm.HENGE: Parameters(tolerance=TOLERANCE),
    Arm.DS2: Parameters(tolerance=TOLERANCE, sizing=Sizing.DS2),
    Arm.STRICT: Parameters(),
}


@dataclass(frozen=True)
class Taken:
    at_s: float
    kind: Kind
    jobs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """`utilities` has a row per round and a column per job, NaN before it came; `ends_s` is the end
    of each round. `threads` counts those of all jobs. `converged_s` has the rounds in which the
    state machine found that it is done."""

    jobs: tuple[str, ...]
    ends_s: Floats
    utilities: Floats
    most: Floats
    threads: Floats
    actions: tuple[Taken, ...]
    converged_s: tuple[float, ...]

    def satisfaction(self, from_s: float = 0.0, to_s: float = np.inf) -> Floats:
        """Returns, of each round, the total utility as a share of that of the jobs then there."""
        rows = (self.ends_s > from_s) & (self.ends_s <= to_s)
        there = ~np.isnan(self.utilities[rows])
        shares: Floats = np.nansum(self.utilities[rows], axis=1) / (there @ self.most)
        return shares


def simulate(workload: Workload, arm: Arm, seed: int) -> Outcome:
    jobs = configured(workload) if arm is Arm.MANUAL else workload.jobs
    by_name = {job.name: job for job in jobs}
    rng = np.random.default_rng(seed)
    cluster = Cluster(workload.machines, jobs, rng)
    control = Control(workload.machines, by_name, PARAMETERS[arm]) if arm in PARAMETERS else None
    juices = Juices(by_name)
    rounds = round(workload.seconds / ROUND_S)
    utilities = np.full((rounds, len(jobs)), np.nan)
    threads, taken, converged = np.zeros(rounds), list[Taken](), list[float]()
    was_converged = False
    for at in range(rounds):
        _start_due(cluster, workload, at * ROUND_S)
        for tick in range(TICKS):
            now_s = at * ROUND_S + tick * TICK_S
            cluster.tick({name: rate(now_s) for name, rate in workload.rates.items()})
        seen, end_s = cluster.seen(with_operators=bool(control or juices.jobs)), (at + 1) * ROUND_S
        now = juices.after(seen)
        for column, job in enumerate(jobs):
            if job.name in seen.jobs:
                utilities[at, column] = _utility(job, seen.jobs[job.name].latency_ms, now)
        if control is not None and end_s >= HELD_BACK_S:
            for action in control.act(end_s, seen, now, _is_blind(workload, end_s)):
                for name, wanted in action.asked.items():
                    cluster.resize(name, wanted)
                taken.append(Taken(end_s, action.kind, tuple(action.asked)))
            if control.is_converged and not was_converged:
                converged.append(end_s)
            was_converged = control.is_converged
        threads[at] = cluster.threads
    return Outcome(
        jobs=tuple(by_name),
        ends_s=ROUND_S * np.arange(1.0, rounds + 1, dtype=np.float64),
        utilities=utilities,
        most=np.array([job.objective.priority for job in jobs]),
        threads=threads,
        actions=tuple(taken),
        converged_s=tuple(converged),
    )


def _start_due(cluster: Cluster, workload: Workload, now_s: float) -> None:
    for job in cluster.jobs:
        if job.name not in cluster.running and workload.starts_s.get(job.name, 0.0) <= now_s:
            cluster.start(job.name)


def _is_blind(workload: Workload, now_s: float) -> bool:
    return workload.blind_s is not None and workload.blind_s[0] <= now_s < workload.blind_s[1]


def _utility(job: Job, latency_ms: float, juices: Mapping[str, float]) -> float:
    """Returns what the job is worth in a round; nothing if nothing left it."""
    found = job.objective.utility(latency_ms, juices.get(job.name))
    return 0.0 if found is None else found

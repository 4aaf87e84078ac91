"""The state machine that runs in production, on the simulated cluster: what it is shown and asked.

It sees what a program that watches a cluster could see: counters of operators, latencies and juice
over the last minute, loads of machines. It does not see the model.
"""

from collections.abc import Mapping
from math import isnan

from techniques.slo import observation
from techniques.slo.actions import Action
from techniques.slo.machine import step
from techniques.slo.memory import Memory
from techniques.slo.objective import meets
from techniques.slo.observation import Observation
from techniques.slo.parameters import Parameters
from techniques.slo.simulation.cluster import Job, JobSeen, Machines, OperatorSeen, Seen
from techniques.slo.simulation.minute import Minute
from techniques.slo.states import State


class Control:
    """Mutable: remembers what the state machine gives it to remember."""

    def __init__(self, machines: Machines, jobs: Mapping[str, Job], parameters: Parameters) -> None:
        self._machines = machines
        self._jobs = jobs
        self._parameters = parameters
        self._memory = Memory()
        self._minute = Minute()

    @property
    def is_converged(self) -> bool:
        return self._memory.state is State.CONVERGED

    def act(
        self, at_s: float, seen: Seen, juices: Mapping[str, float], is_blind: bool
    ) -> tuple[Action, ...]:
        """One round: returns what to change. `is_blind` where nothing is known of any job."""
        jobs = {
            name: observed(
                self._jobs[name],
                self._minute.after(self._jobs[name], each),
                juices.get(name),
                self._machines,
                seen.seconds,
            )
            for name, each in seen.jobs.items()
        }
        if is_blind:
            jobs = {name: unknown(each) for name, each in jobs.items()}
        machines = tuple(
            observation.Machine(self._machines.cores, None if is_blind else load)
            for load in seen.loads
        )
        observed_now = Observation(round(at_s * 1e3), jobs, self._machines.places, machines)
        self._memory, actions = step(self._memory, observed_now, self._parameters)
        return actions


def observed(
    job: Job, seen: JobSeen, juice: float | None, machines: Machines, seconds: float
) -> observation.Job:
    operators = {
        each.name: _operator(seen, each.name, each.parents, machines, seconds)
        for each in job.topology.operators
    }
    objective = job.objective
    return observation.Job(
        operators,
        objective.priority,
        objective.utility(seen.latency_ms, juice),
        meets(objective, seen.latency_ms, juice),
    )


def _operator(
    job: JobSeen, name: str, parents: tuple[str, ...], machines: Machines, seconds: float
) -> observation.Operator:
    seen = job.operators[name]
    return observation.Operator(
        parallelism=seen.threads,
        high=machines.places,
        is_source=not parents,
        capacity=min(1.0, seen.busiest),
        true_per_s=None if isnan(seen.execute_ms) else 1e3 / seen.execute_ms,
        arrived_per_s=None if parents else seen.arrived / seconds,
        parents={it: _ratio(seen, it, job.operators[it]) for it in parents},
    )


def _ratio(seen: OperatorSeen, parent: str, above: OperatorSeen) -> float:
    """Returns how many tuples come from the parent for one that it executes."""
    return seen.arrived_of[parent] / above.executed if above.executed else 0.0


def unknown(job: observation.Job) -> observation.Job:
    """The job while it cannot be reached: only what it was is known."""
    return observation.Job(job.operators, job.max_utility)

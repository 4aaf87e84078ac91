"""What each of Henge's three actions asks of which jobs, within bounds and the cluster's size.

None of them touches a job without an SLO. Reconfiguration gives to one job that misses its SLO,
Reduction takes from the jobs that meet theirs, Reversion sets jobs with SLOs to what they had.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from techniques.slo.memory import Best, Kind
from techniques.slo.observation import Configuration, Job, Observation, Parallelisms
from techniques.slo.parameters import Parameters
from techniques.slo.sizing import wanted

JUST_AS_MUCH = 1e-9


@dataclass(frozen=True)
class Action:
    """`asked` has the parallelism of every operator that is to change, by job."""

    kind: Kind
    asked: Configuration
    reason: str


@dataclass(frozen=True)
class Room:
    """How many units are free, when what is asked of jobs but not there yet counts as taken."""

    seen: Observation
    wishes: Configuration

    @property
    def free(self) -> int:
        return self.seen.size - sum(
            operator.units * _counted(name, each, self)
            for name, job in self.seen.jobs.items()
            for each, operator in job.operators.items()
        )


def reconfiguration(
    name: str, room: Room, parameters: Parameters
) -> tuple[dict[str, int], dict[str, int]]:
    """Returns what the job would want, and what of that there is room for: the most congested
    operator is served first."""
    job = room.seen.jobs[name]
    asks = wanted(job, parameters)
    free, given = room.free, dict[str, int]()
    for each, target in asks.items():
        operator = job.operators[each]
        # What was asked before and is not there yet is taken, but by this operator.
        counted = _counted(name, each, room)
        most = target if not operator.units else counted + max(0, free) // operator.units
        if (fitting := min(target, most)) > operator.parallelism:
            given[each] = fitting
            free -= operator.units * max(0, fitting - counted)
    return asks, given


def reduction(seen: Observation, jobs: Iterable[str], parameters: Parameters) -> Configuration:
    """Returns what is left of the un-congested operators of the jobs that meet their SLOs, sources
    excepted; empty where nothing can be cut."""
    found = {name: _cut(seen.jobs[name], parameters) for name in jobs if seen.jobs[name].meets}
    return {name: cut for name, cut in found.items() if cut}


def _cut(job: Job, parameters: Parameters) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, each in job.operators.items():
        if each.is_source or each.capacity is None or each.capacity > parameters.congested:
            continue
        left = ceil(each.parallelism * (1 - parameters.cut) - JUST_AS_MUCH)
        if (target := max(1, each.low, left)) < each.parallelism:
            found[name] = target
    return found


def reversion(best: Best, room: Room) -> Configuration:
    """Returns what differs from the best configuration, of what was asked for since and is still
    there: what changed without us is not ours to set back."""
    asked = {
        name: {
            each: was
            for each, was in was_there.items()
            if each in job.operators
            and each in room.wishes.get(name, {})
            and _asked(name, each, room) != was
        }
        for name, was_there in best.configuration.items()
        if (job := room.seen.jobs.get(name)) and job.has_slo
    }
    return fitted({name: each for name, each in asked.items() if each}, room)


def fitted(asked: Configuration, room: Room) -> Configuration:
    """Returns what is asked as far as it fits, first what gives back and then what takes. What
    fitted once may not do so now: the cluster may have become smaller, or other jobs larger."""
    found: dict[str, dict[str, int]] = {}
    free = room.free
    changes = [(name, each, to) for name, of in asked.items() for each, to in of.items()]
    for name, each, to in sorted(changes, key=lambda c: (c[2] > _counted(c[0], c[1], room), c)):
        operator = room.seen.jobs[name].operators[each]
        counted = _counted(name, each, room)
        if to > counted and operator.units:
            to = min(to, counted + max(0, free) // operator.units)
        if to != _asked(name, each, room):
            free -= operator.units * (to - counted)
            found.setdefault(name, {})[each] = to
    return found


def _asked(name: str, operator: str, room: Room) -> int:
    there = room.seen.jobs[name].operators[operator].parallelism
    return room.wishes.get(name, {}).get(operator, there)


def _counted(name: str, operator: str, room: Room) -> int:
    return max(room.seen.jobs[name].operators[operator].parallelism, _asked(name, operator, room))


def merged(wishes: Configuration, asked: Configuration) -> dict[str, Parallelisms]:
    """Returns the wishes with what is asked now."""
    found = dict(wishes)
    for name, each in asked.items():
        found[name] = {**found.get(name, {}), **each}
    return found

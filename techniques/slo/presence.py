"""Which jobs take part in a round, and whether their data is there.

Without data nothing is decided: a job whose data is missing for a while makes the cluster BLIND,
and when data is back it is collected for five minutes first (section 8.4.2). A job that is away for
longer is gone; jobs that come, go or get another SLO are another workload, of which nothing is
known yet.
"""

from dataclasses import replace

from techniques.slo.memory import Entry, Memory
from techniques.slo.observation import Observation
from techniques.slo.parameters import Parameters
from techniques.slo.states import Event, State, after

WITHOUT_DATA = (State.STARTING, State.BLIND, State.COLLECTING)


def present(memory: Memory, seen: Observation, parameters: Parameters) -> Memory:
    """Returns the memory with the jobs and the missing data of this round."""
    missing = _missing(memory, seen)
    gone = {
        name
        for name, since_ms in missing.items()
        if name not in seen.jobs and seen.at_ms - since_ms >= parameters.gone_ms
    }
    missing = {name: since_ms for name, since_ms in missing.items() if name not in gone}
    jobs = _jobs(memory, seen, gone)
    is_back = any(name in jobs and name not in missing for name in memory.missing)
    before, memory = memory, _with(memory, jobs, seen)
    memory = replace(memory, missing=missing, is_back=memory.is_back or is_back)
    if memory.state is State.STARTING:
        return moved(memory, Event.BEGAN, seen) if jobs else memory
    if not jobs:
        return moved(Memory(memory.state, log=memory.log), Event.LEFT, seen)
    if (jobs, seen.size) != (before.jobs, before.size):
        says = _says(before, jobs, seen)
        is_acting = memory.state not in WITHOUT_DATA
        memory = memory.forgetting()
        memory = moved(memory, Event.CHANGED, seen, says) if is_acting else memory
    return _blinded(memory, seen, parameters)


def _blinded(memory: Memory, seen: Observation, parameters: Parameters) -> Memory:
    state, missing = memory.state, memory.missing
    if missing:
        longest_ms = seen.at_ms - min(missing.values())
        if state is State.BLIND or longest_ms < parameters.patience_ms:
            return memory
        memory = replace(memory, pending=None, total=None, is_back=False)
        return moved(memory, Event.DATA_LOST, seen, f"no data of {', '.join(sorted(missing))}")
    if state is State.BLIND:
        event = Event.DATA_BACK if memory.is_back else Event.CHANGED
        return moved(replace(memory, is_back=False), event, seen, "no data is missing any more")
    memory = replace(memory, is_back=False)
    waited_ms = seen.at_ms - memory.since_ms
    if state is State.COLLECTING and waited_ms >= parameters.collect_ms:
        return moved(memory, Event.COLLECTED, seen)
    return memory


def moved(memory: Memory, event: Event, seen: Observation, says: str = "") -> Memory:
    """Returns the memory in the state after the event; `says` is logged."""
    state = after(memory.state, event)
    if says:
        total = total_utility(memory, seen)
        memory = memory.noting(Entry(seen.at_ms, event, (), says, total))
    return replace(memory, state=state, since_ms=seen.at_ms, seen_ms=seen.at_ms)


def total_utility(memory: Memory, seen: Observation) -> float | None:
    """Returns the sum over the jobs with an SLO, None if one of them is not measured."""
    found = [seen.jobs[name].utility if name in seen.jobs else None for name in memory.jobs]
    known = [each for each in found if each is not None]
    return sum(known) if len(known) == len(found) else None


def _missing(memory: Memory, seen: Observation) -> dict[str, int]:
    """The known jobs without data, and since when; those whose SLO was taken away need none."""
    found: dict[str, int] = {}
    for name in memory.jobs:
        job = seen.jobs.get(name)
        if job is None or (job.has_slo and not job.is_measured):
            found[name] = memory.missing.get(name, seen.at_ms)
    return found


def _jobs(memory: Memory, seen: Observation, gone: set[str]) -> dict[str, str]:
    """The jobs that count, with their SLOs; one that is new does so once it is measured."""
    found: dict[str, str] = {}
    for name in sorted({*memory.jobs, *seen.jobs}):
        job = seen.jobs.get(name)
        if job is None:
            if name not in gone:
                found[name] = memory.jobs[name]
        elif job.has_slo and (job.is_measured or name in memory.jobs):
            found[name] = f"{job.max_utility:g} {job.slo}"
    return found


def _with(memory: Memory, jobs: dict[str, str], seen: Observation) -> Memory:
    """Nothing is asked of a job that does not count any more, or held against it."""
    return replace(
        memory,
        jobs=jobs,
        size=seen.size,
        wishes={name: each for name, each in memory.wishes.items() if name in jobs},
        blacklist={name: each for name, each in memory.blacklist.items() if name in jobs},
    )


def _says(before: Memory, jobs: dict[str, str], seen: Observation) -> str:
    came, went = sorted(set(jobs) - set(before.jobs)), sorted(set(before.jobs) - set(jobs))
    other = sorted(name for name in jobs if before.jobs.get(name, jobs[name]) != jobs[name])
    parts = [
        f"{', '.join(names)} {what}"
        for names, what in ((came, "joined"), (went, "left"), (other, "has another SLO"))
        if names
    ]
    if seen.size != before.size:
        parts.append(f"the cluster has {seen.size} units instead of {before.size}")
    return "; ".join(parts)

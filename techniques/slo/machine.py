"""Henge's state machine for a whole cluster (section 5): one round of observations in, at most one
action out.

`step` is pure. Time comes with the observation, and all that is to be found again is in the memory
that it returns; `techniques.slo.states` has the states and what follows from what. Every round

 1. sees which jobs with an SLO there are, and whether their data is (`techniques.slo.presence`);
 2. takes back an action that a job did not carry out;
 3. does what its state asks for: waits, judges an action by its effect, or takes one.

A job without an SLO is never touched. One that meets its SLO is touched by Reduction and Reversion
only.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from techniques.slo import effects
from techniques.slo.actions import Action, Room, merged, reconfiguration, reduction, reversion
from techniques.slo.memory import Entry, Kind, Listed, Memory, Pending, Why
from techniques.slo.observation import Configuration, Job, Observation, Parallelisms
from techniques.slo.parameters import Parameters
from techniques.slo.presence import moved, present
from techniques.slo.states import Event, State

AS_IN_THE_PAPER = Parameters()
Step = tuple[Memory, tuple[Action, ...]]


def step(memory: Memory, seen: Observation, parameters: Parameters = AS_IN_THE_PAPER) -> Step:
    """Returns the memory after this round, and the action to take, if any."""
    if seen.at_ms < memory.seen_ms:
        memory = _set_back(memory, seen.at_ms)
    elif memory.seen_ms and seen.at_ms - memory.seen_ms < parameters.round_ms:
        return memory, ()
    memory = present(replace(memory, seen_ms=seen.at_ms), seen, parameters)
    does = DOES.get(memory.state)
    if memory.missing or does is None:
        return memory, ()
    return does(memory, seen, parameters)


def _decide(memory: Memory, seen: Observation, parameters: Parameters) -> Step:
    """Not converged: takes the next action, or finds that there is none."""
    tried = {name: at for name, at in memory.blacklist.items() if at.until_ms > seen.at_ms}
    memory = replace(memory, best=effects.best(memory, seen), blacklist=tried)
    jobs = {name: seen.jobs[name] for name in memory.jobs}
    if all(job.meets for job in jobs.values()):
        return moved(memory, Event.REACHED, seen), ()
    queue = sorted(
        (name for name, job in jobs.items() if not job.meets and name not in tried),
        key=lambda name: (-(jobs[name].max_utility or 0.0), jobs[name].utility or 0.0, name),
    )
    room, lacks_room = Room(seen, memory.wishes), False
    for name in queue:
        asks, given = reconfiguration(name, room, parameters)
        if given:
            says = f"{name} misses its SLO, {_utility(jobs[name])}: {_changes(jobs[name], given)}"
            action = Action(Kind.RECONFIGURATION, {name: given}, says)
            return _take(memory, Event.RECONFIGURED, action, seen)
        lacks_room = lacks_room or bool(asks)
    if lacks_room and (cut := _reducible(memory, seen, parameters)):
        return _reduce(memory, cut, "the cluster has no room left", seen)
    listed = Listed(seen.at_ms + parameters.blacklist_ms, Why.NOTHING_TO_GIVE)
    memory = replace(memory, blacklist={**tried, **dict.fromkeys(queue, listed)})
    return _revert(memory, "no further action would help", seen)


def _settle(memory: Memory, seen: Observation, parameters: Parameters) -> Step:
    """Waits until utilities are quiet, and judges the action by them."""
    pending = memory.pending
    if pending is None:
        return moved(memory, Event.SETTLED, seen), ()
    if failed := effects.failed(pending, seen, parameters):
        return _compensate(memory, pending, failed, seen, parameters)
    is_quiet, memory = effects.is_quiet(memory, pending, seen, parameters)
    if not is_quiet:
        return memory, ()
    memory = replace(memory, pending=None, total=None)
    if pending.kind is not Kind.RECONFIGURATION:
        return moved(memory, Event.SETTLED, seen), ()
    memory = effects.judged(memory, pending, seen, parameters)
    before, now = sum(pending.utilities.values()), effects.total(memory, seen)
    if now >= before * (1 - parameters.tolerance) - effects.SAME:
        return moved(memory, Event.SETTLED, seen), ()
    fell = f"total utility fell from {before:.3g} to {now:.3g}"
    if cut := _reducible(memory, seen, parameters):
        return _reduce(memory, cut, fell, seen)
    return _revert(memory, fell, seen)


def _watch(memory: Memory, seen: Observation, parameters: Parameters) -> Step:
    """Looks for some rounds whether the maximum lasts."""
    if not all(seen.jobs[name].meets for name in memory.jobs):
        return moved(memory, Event.UNSTABLE, seen), ()
    if seen.at_ms - memory.since_ms < parameters.stable_rounds * parameters.round_ms:
        return memory, ()
    memory = moved(memory, Event.STABLE, seen, "all jobs meet their SLOs")
    return effects.converged(memory, seen), ()


def _rest(memory: Memory, seen: Observation, parameters: Parameters) -> Step:
    """Converged: stays so until utility drops, or a black-listed job may be tried again."""
    if (pending := memory.pending) is not None:
        failed = effects.failed(pending, seen, parameters)
        is_quiet, memory = effects.is_quiet(memory, pending, seen, parameters)
        if failed:
            memory = memory.noting(_not_done(Kind.REVERSION, failed, seen))
        elif not is_quiet:
            return memory, ()
        return effects.converged(replace(memory, pending=None, total=None), seen), ()
    if says := effects.dropped(memory, seen, parameters):
        return moved(memory.forgetting(), Event.DROPPED, seen, says), ()
    expired = [name for name, at in memory.blacklist.items() if at.until_ms <= seen.at_ms]
    if not expired:
        return effects.higher(memory, seen), ()
    kept = {name: at for name, at in memory.blacklist.items() if name not in expired}
    memory = replace(memory, blacklist=kept)
    if all(seen.jobs[name].meets for name in expired):
        return memory, ()
    return moved(memory, Event.EXPIRED, seen, f"{', '.join(expired)} may be tried again"), ()


DOES: Mapping[State, Callable[[Memory, Observation, Parameters], Step]] = {
    State.NOT_CONVERGED: _decide,
    State.SETTLING: _settle,
    State.WATCHING: _watch,
    State.CONVERGED: _rest,
}


def _reducible(memory: Memory, seen: Observation, parameters: Parameters) -> Configuration:
    """Returns what a Reduction would leave, empty unless all of the paper's conditions hold: the
    cluster is congested, a job meets its SLO, and there was no Reduction before."""
    if memory.is_reduced or not seen.is_congested:
        return {}
    broken = {name for name, at in memory.blacklist.items() if at.why is Why.FAILED}
    return reduction(seen, [name for name in memory.jobs if name not in broken], parameters)


def _reduce(memory: Memory, cut: Configuration, why: str, seen: Observation) -> Step:
    changes = "; ".join(f"{name}: {_changes(seen.jobs[name], cut[name])}" for name in cut)
    says = f"{why}, and most machines have more to run than cores: {changes}"
    memory = replace(memory, is_reduced=True)
    return _take(memory, Event.REDUCED, Action(Kind.REDUCTION, cut, says), seen)


def _revert(memory: Memory, why: str, seen: Observation) -> Step:
    """Goes back to the best configuration if that was better, and rests there or here."""
    best, now = memory.best, effects.total(memory, seen)
    back = reversion(best, Room(seen, memory.wishes)) if best else {}
    if best is None or not back or best.utility <= now + effects.SAME:
        return effects.converged(moved(memory, Event.EXHAUSTED, seen, why), seen), ()
    says = f"{why}: back to the configuration with a total utility of {best.utility:.3g}"
    return _take(memory, Event.REVERTED, Action(Kind.REVERSION, back, says), seen)


def _compensate(
    memory: Memory,
    pending: Pending,
    failed: Mapping[str, str],
    seen: Observation,
    parameters: Parameters,
) -> Step:
    """Takes back what jobs did not carry out, and leaves them alone for an hour."""
    memory = memory.noting(_not_done(pending.kind, failed, seen))
    if pending.compensates:
        # They do not hold what they had either: to ask again would never end.
        return moved(replace(memory, pending=None, total=None), Event.SETTLED, seen), ()
    for name, says in failed.items():
        memory = effects.listed(memory, name, Why.FAILED, says, seen, parameters)
    back = {name: pending.before[name] for name in failed}
    action = Action(Kind.REVERSION, back, f"taken back: {_says(failed)}")
    memory, actions = _take(memory, Event.COMPENSATED, action, seen, compensates=True)
    # Where nothing had been asked before, nothing is: a job that refuses to change something would
    # refuse to be told what it has, too.
    wishes = {**memory.wishes, **{name: pending.wished[name] for name in failed}}
    return replace(memory, wishes=wishes), actions


def _take(
    memory: Memory, event: Event, action: Action, seen: Observation, compensates: bool = False
) -> Step:
    before = {
        name: {each: seen.jobs[name].parallelisms.get(each, to) for each, to in asked.items()}
        for name, asked in action.asked.items()
    }
    utilities = {name: seen.jobs[name].utility or 0.0 for name in memory.jobs}
    wished = {name: memory.wishes.get(name, {}) for name in action.asked}
    pending = Pending(action.kind, seen.at_ms, action.asked, before, wished, utilities, compensates)
    entry = Entry(
        seen.at_ms, action.kind, tuple(action.asked), action.reason, sum(utilities.values())
    )
    wishes = merged(memory.wishes, action.asked)
    memory = replace(memory, pending=pending, wishes=wishes, total=None).noting(entry)
    return moved(memory, event, seen), (action,)


def _set_back(memory: Memory, at_ms: int) -> Memory:
    """Returns the memory for an earlier time: a job whose clock was ahead has left."""
    pending = memory.pending
    return replace(
        memory,
        seen_ms=at_ms,
        since_ms=min(memory.since_ms, at_ms),
        missing={name: min(since_ms, at_ms) for name, since_ms in memory.missing.items()},
        pending=pending and replace(pending, at_ms=min(pending.at_ms, at_ms)),
    )


def _not_done(kind: Kind, failed: Mapping[str, str], seen: Observation) -> Entry:
    return Entry(seen.at_ms, f"{kind} failed", tuple(failed), _says(failed))


def _says(failed: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {why}" for name, why in failed.items())


def _utility(job: Job) -> str:
    return f"utility {job.utility or 0.0:.3g} of {job.max_utility or 0.0:.3g}"


def _changes(job: Job, to: Parallelisms) -> str:
    def of(name: str) -> str:
        operator = job.operators[name]
        busy = "" if operator.capacity is None else f" (capacity {operator.capacity:.2f})"
        return f"{name} {operator.parallelism} → {to[name]}{busy}"

    return ", ".join(of(name) for name in to)

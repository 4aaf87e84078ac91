"""What came of an action: whether jobs carried it out, utilities are quiet again, and it helped."""

from collections.abc import Mapping
from dataclasses import replace

from techniques.slo.memory import Best, Entry, Listed, Memory, Pending, Why
from techniques.slo.observation import Observation
from techniques.slo.parameters import Parameters
from techniques.slo.presence import total_utility

# Sums of the same utilities in another order differ by less.
SAME = 1e-9
# What a job says of an order is that of the one before for some seconds.
REFUSED_AFTER_ROUNDS = 2
# A highest utility that rises by less is not worth writing down.
WORTH_NOTING = 1.01


def total(memory: Memory, seen: Observation) -> float:
    """Returns the total utility of a round in which all jobs are measured."""
    return total_utility(memory, seen) or 0.0


def failed(pending: Pending, seen: Observation, parameters: Parameters) -> dict[str, str]:
    """Returns the jobs that did not carry the action out, and why: they refused it, or they do not
    have what was asked once it is time to judge."""
    waited_ms = seen.at_ms - pending.at_ms
    found: dict[str, str] = {}
    for name, asked in pending.asked.items():
        job = seen.jobs[name]
        if job.refused and waited_ms >= REFUSED_AFTER_ROUNDS * parameters.round_ms:
            found[name] = f"refused: {job.refused}"
        elif waited_ms >= parameters.settle_ms and (
            other := [each for each, to in asked.items() if job.parallelisms.get(each) != to]
        ):
            there = ", ".join(f"{each} has {job.parallelisms.get(each, 0)}" for each in other)
            wish = ", ".join(f"{asked[each]}" for each in other)
            found[name] = f"it does not have what was asked: {there} instead of {wish}"
    return found


def is_quiet(
    memory: Memory, pending: Pending, seen: Observation, parameters: Parameters
) -> tuple[bool, Memory]:
    """Returns whether utilities have settled, and the memory with what the next round compares."""
    waited_ms, now = seen.at_ms - pending.at_ms, total(memory, seen)
    if waited_ms < parameters.settle_ms - parameters.round_ms:
        return False, memory
    before = memory.total
    memory = replace(memory, total=now)
    if waited_ms < parameters.settle_ms:
        return False, memory
    if waited_ms >= parameters.settle_most_ms:
        return True, memory
    change = None if before is None else abs(now - before)
    return change is not None and change <= parameters.quiet * max(now, before or 0) + SAME, memory


def judged(memory: Memory, pending: Pending, seen: Observation, parameters: Parameters) -> Memory:
    """Black-lists a job whose utility rose by less than a factor of 1 + Δ, unless it meets its SLO
    now: then there is nothing more to give."""
    for name in pending.asked:
        before, now = pending.utilities[name], seen.jobs[name].utility or 0.0
        if seen.jobs[name].meets or (now > before and now >= before * (1 + parameters.improvement)):
            continue
        says = f"utility of {name} went from {before:.3g} to {now:.3g} only"
        memory = listed(memory, name, Why.MARGINAL, says, seen, parameters)
    return memory


def listed(
    memory: Memory, name: str, why: Why, says: str, seen: Observation, parameters: Parameters
) -> Memory:
    until_ms = seen.at_ms + parameters.blacklist_ms
    entry = Entry(seen.at_ms, "black-listed", (name,), says, total_utility(memory, seen))
    blacklist = {**memory.blacklist, name: Listed(until_ms, why)}
    return replace(memory, blacklist=blacklist).noting(entry)


def best(memory: Memory, seen: Observation) -> Best:
    """Returns the best configuration, this one included. Of two that are as good the earlier one
    stays: it takes less."""
    now = Best({name: seen.jobs[name].parallelisms for name in memory.jobs}, total(memory, seen))
    if memory.best is None or memory.best.configuration == now.configuration:
        return now
    return now if now.utility > memory.best.utility + SAME else memory.best


def converged(memory: Memory, seen: Observation) -> Memory:
    """Returns the memory with what utility has to drop from to end this."""
    return replace(memory, highest=_utilities(memory, seen), met=_met(memory, seen))


def higher(memory: Memory, seen: Observation) -> Memory:
    risen = {
        name: now
        for name, now in _utilities(memory, seen).items()
        if now > memory.highest.get(name, 0.0) * WORTH_NOTING + SAME
    }
    met = tuple(sorted({*memory.met, *_met(memory, seen)}))
    return replace(memory, highest={**memory.highest, **risen}, met=met)


def dropped(memory: Memory, seen: Observation, parameters: Parameters) -> str:
    """Returns what fell while converged, empty if nothing did: the total by more than 5 %, or a
    job by as much that met its SLO. Of many jobs a single one hardly shows in the total."""
    before, now = sum(memory.highest.values()), total(memory, seen)
    if now < before * (1 - parameters.drop) - SAME:
        return f"total utility dropped from {before:.3g} to {now:.3g}"
    for name in memory.met:
        job = seen.jobs[name]
        highest = memory.highest.get(name, 0.0)
        if not job.meets and (job.utility or 0.0) < highest * (1 - parameters.drop) - SAME:
            return f"{name} met its SLO and does not any more"
    return ""


def _utilities(memory: Memory, seen: Observation) -> Mapping[str, float]:
    return {name: seen.jobs[name].utility or 0.0 for name in memory.jobs}


def _met(memory: Memory, seen: Observation) -> tuple[str, ...]:
    return tuple(sorted(name for name in memory.jobs if seen.jobs[name].meets))

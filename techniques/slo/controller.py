"""Henge on a cluster of Spark jobs: views in, a decision per job out.

Every few seconds the jobs' views become an observation, the state machine takes a step, and what is
asked of each job becomes its settings. The memory of the machine is one for all jobs. It is stored
with the decisions of a few of them, and found again with any of those.

Jobs in *advise* have room of the cluster, but nothing is done to them; what would be done first is
their decision.
"""

from collections.abc import Mapping
from dataclasses import replace

from techniques.model import Conditions, Decision, Evidence, Mode, Options, Past
from techniques.schema import Settings
from techniques.slo import knobs
from techniques.slo.capacity import machines, slots
from techniques.slo.knobs import Allowed
from techniques.slo.machine import step
from techniques.slo.measured import Measured, measured
from techniques.slo.memory import Memory
from techniques.slo.objective import as_data
from techniques.slo.observation import Job, Observation
from techniques.slo.parameters import Parameters, Sizing
from techniques.view import Reads, View

READS = frozenset((Reads.SERIES, Reads.RESOURCES, Reads.POOLS, Reads.TASKS, Reads.EXECUTORS))
# So many jobs of a cluster store its memory: one of them may leave.
KEEPERS = 3
CONGESTED = Parameters().congested


def conditions(view: View) -> Conditions:
    if not len(view):
        return Conditions(None, "nothing is known of this job yet")
    if view.objective is None:
        return Conditions(False, "this job has no SLO: set one on its page")
    now = measured(view)
    if now.meets is None or now.utility is None:
        return Conditions(None, "what its SLO is about is not measured yet")
    utility = f"utility {now.utility:.3g} of {view.objective.priority:.3g}"
    if now.meets:
        return Conditions(False, f"it meets its SLO, {utility}")
    there = knobs.operators(view, Allowed(executors=True), {})
    busy = {n: o.capacity for n, o in there.items() if o.capacity and o.capacity > CONGESTED}
    if not busy:
        return Conditions(False, f"it misses its SLO, {utility}, but nothing of it is congested")
    which = ", ".join(f"{name} (capacity {capacity:.2f})" for name, capacity in busy.items())
    return Conditions(True, f"it misses its SLO, {utility}; congested: {which}")


def decide_all(
    views: Mapping[str, View], options: Mapping[str, Options], past: Mapping[str, Past]
) -> Mapping[str, Decision]:
    acting = sorted(name for name in views if past[name].mode is Mode.ACT)
    found = _acted(acting, views, options, past) if acting else {}
    if len(acting) < len(views):
        found |= _advised(acting, views, options, past)
    return found


def _acted(
    acting: list[str],
    views: Mapping[str, View],
    options: Mapping[str, Options],
    past: Mapping[str, Past],
) -> dict[str, Decision]:
    before = _memory(acting, past)
    seen = observed(before, acting, views, options, past)
    memory, _ = step(before, seen, parameters(options[acting[0]]))
    is_new = not memory.same_as(before)
    found: dict[str, Decision] = {}
    for name in acting:
        view, decided = views[name], past[name].decision
        there = slots(view)
        settings = knobs.settings(memory.wishes.get(name, {}), there.total if there else None)
        is_keeper = name in acting[:KEEPERS]
        if _holds(decided, settings) and not (is_new and is_keeper):
            continue
        data = memory.as_data() if is_keeper else {}
        found[name] = Decision(settings, _reason(name, memory), _evidence(view), data)
    return found


def _advised(
    acting: list[str],
    views: Mapping[str, View],
    options: Mapping[str, Options],
    past: Mapping[str, Past],
) -> dict[str, Decision]:
    """What the machine would do first for the jobs in advise. An advice stands for a minute: what
    is measured changes all the time."""
    names = sorted(set(views) - set(acting))
    before = _memory(names, past)
    terms = parameters(options[names[0]])
    seen = observed(Memory(), names, views, options, past)
    if before.log and seen.at_ms - before.log[-1].at_ms < terms.settle_ms:
        return {}
    memory, actions = step(Memory(), seen, terms)
    asked = actions[0].asked if actions else {}
    log = (*before.log, *memory.log) if asked else before.log
    memory = replace(memory, pending=None, wishes={}, log=log)
    found: dict[str, Decision] = {}
    for name in names:
        decided, there = past[name].decision, slots(views[name])
        settings = knobs.settings(asked.get(name, {}), there.total if there else None)
        if not _holds(decided, settings):
            reason = actions[0].reason if name in asked else conditions(views[name]).why
            found[name] = Decision(settings, reason, _evidence(views[name]), memory.as_data())
    return found


def observed(
    memory: Memory,
    touched: list[str],
    views: Mapping[str, View],
    options: Mapping[str, Options],
    past: Mapping[str, Past],
) -> Observation:
    """Jobs that are not among the touched ones count without their SLOs."""
    jobs: dict[str, Job] = {}
    for name, view in views.items():
        chosen = options[name]
        allowed = Allowed(bool(chosen["pools"]), bool(chosen["share"]), bool(chosen["executors"]))
        wishes = memory.wishes.get(name, {})
        job = Job(knobs.operators(view, allowed, wishes), refused=past[name].refused)
        if name in touched and view.objective is not None:
            now: Measured = measured(view)
            job = replace(
                job,
                max_utility=view.objective.priority,
                utility=now.utility,
                meets=now.meets,
                slo=str(as_data(view.objective)),
            )
        jobs[name] = job
    size = max(int(options[name]["size"]) for name in touched)
    at_ms = max(view.end_ms for view in views.values())
    return Observation(at_ms, jobs, size, machines(views.values()))


def parameters(chosen: Options) -> Parameters:
    return Parameters(
        settle_ms=int(chosen["settle_s"]) * 1_000,
        settle_most_ms=int(chosen["settle_s"]) * 3_000,
        blacklist_ms=int(chosen["blacklist_min"]) * 60_000,
        collect_ms=int(chosen["collect_s"]) * 1_000,
        tolerance=float(chosen["tolerance"]) / 100,
        utilisation=float(chosen["utilisation"]) / 100,
        sizing=Sizing(str(chosen["sizing"])),
    )


def _memory(names: list[str], past: Mapping[str, Past]) -> Memory:
    """The newest that one of the jobs kept, an empty one if none did."""
    held = [each.memory for name in names if (each := past[name].decision) and each.memory]
    return max((Memory.of(each) for each in held), key=lambda each: each.seen_ms, default=Memory())


def _reason(name: str, memory: Memory) -> str:
    """The newest thing that happened to the job, else what the cluster as a whole does."""
    for entry in reversed(memory.log):
        if name in entry.jobs:
            return f"{entry.what}: {entry.says}"
    return f"the cluster is {memory.state}; nothing was changed for this job"


def _evidence(view: View) -> tuple[Evidence, ...]:
    now, objective = measured(view), view.objective
    found: list[Evidence] = []
    if objective is not None and now.utility is not None:
        found.append(Evidence("utility", f"{now.utility:.3g} of {objective.priority:.3g}"))
    if now.latency_ms is not None:
        found.append(Evidence("latency", f"{now.latency_ms:.3g} ms"))
    if now.juice is not None:
        found.append(Evidence("juice", f"{now.juice:.3f}"))
    for name, each in knobs.operators(view, Allowed(executors=True), {}).items():
        if each.capacity is not None:
            found.append(Evidence(f"capacity of {name}", f"{each.capacity:.2f}"))
    return tuple(found)


def _holds(decided: Decision | None, settings: Settings) -> bool:
    """Whether this was decided already. A minimum share follows from the slots: that these changed
    is no reason for a new decision."""
    return decided is not None and _plain(decided.settings) == _plain(settings)


def _plain(settings: Settings) -> dict[str, object]:
    return {name: each for name, each in settings.items() if name != "min_share"}

"""When a running task gets a copy: Algorithm 1 of Du & Gupta for each stage of a batch.

Whether copies help is judged as in the paper's Table 4: at moderate or low load, where tasks have a
tail. The lever in the driver watches the ages of tasks, since the way through Redis is too long for
that, and keeps to the budget.
"""

from collections.abc import Mapping

from techniques.detection.rules import straggler
from techniques.durations import said
from techniques.model import Conditions, Decision, Evidence, Mode, Options, Past
from techniques.options import checked
from techniques.schema import Setting, Settings
from techniques.task_copies import sinks, sparks_own
from techniques.task_copies.algorithm import steady, timeout_ms
from techniques.task_copies.attempts import FEWEST_TASKS
from techniques.task_copies.seen import Seen, seen
from techniques.task_copies.technique import ALWAYS, TECHNIQUE, WHEN_SAFE
from techniques.view import Reads, View

READS = frozenset((Reads.SERIES, Reads.INTERVALS, Reads.TASKS, Reads.EXECUTORS))
NOTHING_YET = Past()
DEFAULTS = checked(TECHNIQUE.options, {})
# Tasks wait for a slot in more than this share of the windows: copies would wait behind them, or
# they behind copies.
BUSY = 0.5
# Spark's name for the driver, which is no executor except in local mode.
DRIVER = "driver"


def conditions(view: View) -> Conditions:
    return _conditions(view, seen(view, DEFAULTS))


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    """Advice is given only where the conditions hold; *act* is the operator's word. A decision
    stays while too few tasks end to make another."""
    found = seen(view, options)
    holds = _conditions(view, found)
    if found.is_too_little or not (holds.hold or past.mode is Mode.ACT):
        return None
    timeouts, costs = _timeouts(found, past.decision.settings if past.decision else {})
    settings: dict[str, Setting] = {
        "timeouts_ms": timeouts,
        "costs_ms": costs,
        "budget_percent": float(options["budget"]),
        "sink": _may_write_twice(view.sink, options),
        "left_out": {str(kind.number): why for kind, why in found.left_out.items()},
        "any_sink": options["sink"] == ALWAYS,
        "stateful": bool(options["stateful"]),
        "run": past.run,
    }
    asked = "" if holds.hold else ", because it was asked for"
    does = _does(timeouts, float(options["budget"]))
    return Decision(settings, f"{does}{asked}: {holds.why}", _evidence(found, timeouts))


def _conditions(view: View, found: Seen) -> Conditions:
    if not len(view):
        return Conditions(None, "nothing is known of this job yet")
    if (lacking := _lacks_hosts(view)) is not None:
        return lacking
    if found.is_too_little:
        why = f"fewer than {FEWEST_TASKS} tasks of a stage ended in the last {found.period_s:g} s"
        return Conditions(None, why)
    left_out = "".join(f"; {why}" for why in found.left_out.values())
    hold, why = _helps(view, found)
    first = sparks_own.advice(found) if hold else None
    return Conditions(hold, f"{why}{left_out}", first)


def _helps(view: View, found: Seen) -> tuple[bool, str]:
    if not found.fit:
        return False, "no stage may be copied"
    if slow := _always_slow(view, found):
        return False, slow
    if (tail := found.tail) is None:
        durations = "; ".join(f"{kind.title}: {kind.percentiles}" for kind in found.fit[:3])
        return False, f"no stage that may be copied has a long tail ({durations})"
    longest = f"{tail.title} has a long tail ({tail.percentiles})"
    waiting = f"tasks wait for a slot {found.waiting:.0%} of the time"
    if found.waiting > BUSY:
        return False, f"{longest}, but {waiting}: copies would only make that longer"
    return True, f"{longest}, and {waiting}"


def _lacks_hosts(view: View) -> Conditions | None:
    there = [each for each in view.executors if each.left_ms is None and not each.leaving]
    if not there:
        return Conditions(None, "no executor is known yet")
    hosts = sorted({each.host for each in there if each.id != DRIVER})
    if not hosts:
        return Conditions(False, "Spark runs in local mode: there is no other host for a copy")
    if len(hosts) == 1:
        why = f"all executors are on {hosts[0]}, and Spark never runs a copy on the same host"
        return Conditions(False, why)
    return None


def _always_slow(view: View, found: Seen) -> str:
    """Says so where half of an executor's tasks are slow; empty if there is none."""
    slow = [each for each in view.once(straggler.find) if each.executors]
    if not slow:
        return ""
    instead = (
        "what helps is state balancing, which moves its state partitions away"
        if found.is_stateful
        else "what helps is a look at its host"
    )
    return (
        f"{slow[0].title}, and not only now and then: most of its tasks would need a copy, more "
        f"than a budget allows; {instead}"
    )


def _timeouts(found: Seen, before: Settings) -> tuple[dict[str, int], dict[str, int]]:
    """The timeout and what a copy costs, by kind. The cost is the median of the originals: of
    copies, only those that came first are known in full, and these are the quick ones."""
    timeouts: dict[str, int] = {}
    costs: dict[str, int] = {}
    for kind in found.fit:
        name = str(kind.number)
        timeout = timeout_ms(kind.durations, _before(before, "timeouts_ms", name))
        if timeout is not None:
            timeouts[name] = timeout
            usual_ms = max(1, round(kind.durations.median_ms))
            costs[name] = steady(usual_ms, _before(before, "costs_ms", name), 1)
    return timeouts, costs


def _before(settings: Settings, name: str, kind: str) -> float | None:
    held = settings.get(name)
    found = held.get(kind) if isinstance(held, Mapping) else None
    return found if isinstance(found, int | float) else None


def _may_write_twice(sink: str, options: Options) -> bool:
    return options["sink"] == ALWAYS or (options["sink"] == WHEN_SAFE and not sinks.harm(sink))


def _does(timeouts: Mapping[str, int], budget_percent: float) -> str:
    if not timeouts:
        return "no task is copied"
    by_stage = sorted((int(kind), ms) for kind, ms in timeouts.items())
    ages = ", ".join(f"of stage {kind + 1} after {said(ms)}" for kind, ms in by_stage)
    return f"a task {ages} gets a copy on another host, {budget_percent:g} % of task time at most"


def _evidence(found: Seen, timeouts: Mapping[str, int]) -> tuple[Evidence, ...]:
    known = sorted((*found.fit, *found.left_out), key=lambda kind: kind.number)
    stages = [
        Evidence(
            f"tasks of {kind.title}",
            f"{kind.percentiles}; timeout {said(ms)}"
            if (ms := timeouts.get(str(kind.number)))
            else f"{kind.percentiles}; no timeout",
        )
        for kind in known
    ]
    return (*stages, *found.evidence)

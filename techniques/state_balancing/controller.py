"""Which state partition is to run where: Algorithm 2, with a prediction that has to be met.

Each period the slowest executor is paired with the fastest, and so on, and each pair moves at most
one partition, if that pays back what loading the state costs. Every move is judged by the stages
after it. Executors that are about to go are emptied at once.
"""

from dataclasses import replace

from techniques.detection.slow_partitions import SlowPartition, slow_partitions
from techniques.durations import said
from techniques.latency_balancing.algorithm import aged
from techniques.model import Conditions, Decision, Mode, Options, Past
from techniques.state_balancing.algorithm import ALPHA, THRESHOLD
from techniques.state_balancing.cluster import DRIVER, Cluster, changes, places, present
from techniques.state_balancing.memory import Memory, Move, Verdict
from techniques.state_balancing.prediction import least_loaded
from techniques.state_balancing.proposals import (
    Proposals,
    Terms,
    enough,
    looked_at,
    proposed,
)
from techniques.state_balancing.reasons import evidence, reason
from techniques.state_balancing.slowest import Slowest, slowest
from techniques.state_balancing.stages import stages, stateful
from techniques.state_balancing.verdicts import judged
from techniques.view import Reads, View

READS = frozenset((Reads.INTERVALS, Reads.TASKS, Reads.EXECUTORS))
NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    return view.once(_conditions)


def _conditions(view: View) -> Conditions:
    if missing := _missing(view):
        return missing
    now = proposed(view, Memory("", ()), Terms())
    found = slowest(view)
    if full := [name for name in now.cluster.leaving if now.cluster.on(name)]:
        number = len(now.cluster.on(full[0]))
        why = f"executor {full[0]} is about to go and has {number} state partitions"
        return Conditions(True, why)
    if heavy := _to_blame(view, now.cluster, found):
        return Conditions(False, _skew(heavy))
    moved = len(changes(view))
    if found and found.is_slow:
        if moved and not now.plans:
            return Conditions(
                True, f"{_lately(moved)}, and no further move would pay; {found.says}"
            )
        but = "" if now.plans else ", but no move of a partition would pay"
        return Conditions(bool(now.plans), f"{found.says}{but}")
    if now.plans and not now.cluster.on(now.plans[0].target):
        return Conditions(True, f"executor {now.plans[0].target} has no state partition yet")
    if found and found.ratio > THRESHOLD:
        return Conditions(None, f"{found.says}: that may be chance, more stages will tell")
    ratio = f"; the slowest is done after {found.ratio:.2f} × the others' time" if found else ""
    if moved:
        return Conditions(True, f"{_lately(moved)}, and the executors are even now{ratio}")
    return Conditions(False, f"the executors are even: nothing to move{ratio}")


def _lately(moved: int) -> str:
    return f"{moved} state partition{'s' if moved > 1 else ''} moved in the last two minutes"


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    if _missing(view):
        return None
    if past.refused:
        return _withdrawn(view, past)
    terms = Terms.of(options)
    return _act(view, terms, past) if past.mode is Mode.ACT else _advise(view, terms, past)


def _advise(view: View, terms: Terms, past: Past) -> Decision | None:
    """What it would do now. Nothing is remembered, for nothing comes of it."""
    holds = conditions(view)
    now = proposed(view, Memory(past.run, ()), terms)
    wished = {**_emptied(now.cluster), **_targets(now)} if holds.hold else {}
    before = past.decision
    if (before is None and not wished) or (before and before.settings == _settings(wished)):
        return None
    says = reason(now.plans, _emptied(now.cluster) if wished else {}, (), holds.why)
    return Decision(_settings(wished), says, evidence(view, now))


def _act(view: View, terms: Terms, past: Past) -> Decision | None:
    before = Memory.of(past.decision.memory if past.decision else {}, past.run)
    verdicts, memory = _judged(view, before.at(view.end_ms, _names(view)), terms)
    now = looked_at(view, memory, terms)
    wished = _kept(_wishes(past, before), memory, now, view, terms)
    forced = {each: to for each, to in _emptied(now).items() if each not in wished}
    found = proposed(view, memory, terms) if _is_due(view, memory, terms) else None
    plans = found.plans if found else ()
    moves = [_forced(each, now.places[each], to, view) for each, to in forced.items()]
    memory = memory.moved((*moves, *(_moves(found, view) if found else ())), view.end_ms)
    wished = {**wished, **forced, **(_targets(found) if found else {})}
    as_before = past.decision and past.decision.settings == _settings(wished)
    if past.decision and as_before and past.decision.memory == memory.as_memory():
        return None
    says = reason(plans, forced, verdicts, conditions(view).why)
    return Decision(_settings(wished), says, evidence(view, found), memory.as_memory())


def _withdrawn(view: View, past: Past) -> Decision | None:
    """Drops the wishes that the job did not carry out, so that a refusal because of one of them
    ends; nothing new is tried while it lasts. Spark may run a partition elsewhere for reasons of
    its own: its executor was busy for too long, or a copy of its task ran elsewhere."""
    before = Memory.of(past.decision.memory if past.decision else {}, past.run)
    wished, at = _wishes(past, before), places(view)
    unmet = {each for each, to in wished.items() if at.get(each) != to}
    if not unmet:
        return None
    moves = tuple(
        replace(move, verdict=Verdict.FAILED)
        if move.verdict is Verdict.WAITING and move.partition in unmet
        else move
        for move in before.moves
    )
    kept = {each: to for each, to in wished.items() if each not in unmet}
    numbers = ", ".join(map(str, sorted(unmet)))
    says = f"the wish for partition {numbers} is dropped: the job refused it ({past.refused})"
    return Decision(_settings(kept), says, memory=replace(before, moves=moves).as_memory())


def _missing(view: View) -> Conditions | None:
    """What has to be there before anything can be said."""
    if not len(view) or not stages(view):
        return Conditions(None, "nothing is known of this job's tasks yet")
    if not any(stage.stateful for stage in stages(view)):
        return Conditions(False, "none of its stages keeps state: there is nothing to move")
    if set(places(view).values()) == {DRIVER}:
        return Conditions(False, "this job runs on a local master: its driver is all it has")
    if len(present(view)) < 2:
        return Conditions(False, "there is one executor: partitions have nowhere to go")
    if not enough(view, 0.0):
        return Conditions(None, "too few stages with state have ended yet")
    return None


def _to_blame(view: View, now: Cluster, found: Slowest | None) -> SlowPartition | None:
    """A partition that is slow wherever it is, unless its executor is slow for another reason: all
    of its tasks take longer, or it has more partitions than any other."""
    heavy = slow_partitions(view)
    if found is None or not found.is_slow or found.executor not in now.nodes:
        return heavy[0] if heavy else None
    others = [node for node in now.nodes.values() if node.id != found.executor]
    if now.nodes[found.executor].slowness > THRESHOLD * max(node.slowness for node in others):
        return None
    if len(now.on(found.executor)) > max(len(now.on(node.id)) for node in others):
        return None
    return next((each for each in heavy if found.executor in each.executors), None)


def _skew(heavy: SlowPartition) -> str:
    return (
        f"partition {heavy.partition} is slow wherever it is: its tasks take {heavy.ratio:.1f} × "
        f"those of the others on the same executor ({said(heavy.mean_ms)} against "
        f"{said(heavy.others_ms)}, p = {heavy.p_value:.2g}), so moving it does not help; its keys "
        "are skewed"
    )


def _judged(view: View, memory: Memory, terms: Terms) -> tuple[tuple[Move, ...], Memory]:
    """The moves on which there is a verdict now, and the memory with all verdicts."""
    moves, verdicts = [], []
    cost_ms = memory.cost_ms
    for move in memory.moves:
        if move.verdict is not Verdict.WAITING:
            moves.append(move)
            continue
        found = judged(move, stateful(view), view.end_ms, terms.rest_ms)
        moves.append(found.move)
        if found.move.verdict is not Verdict.WAITING:
            verdicts.append(found.move)
        if found.cost_ms is not None:
            before = {} if cost_ms is None else {0: cost_ms}
            cost_ms = aged(before, {0: found.cost_ms}, ALPHA)[0]
    return tuple(verdicts), replace(memory, moves=tuple(moves), cost_ms=cost_ms)


def _is_due(view: View, memory: Memory, terms: Terms) -> bool:
    waited = view.end_ms - memory.at_ms >= terms.period_ms
    return waited and not memory.waiting and enough(view, memory.at_ms)


def _wishes(past: Past, before: Memory) -> dict[int, str]:
    if past.decision is None or past.decision.memory.get("run") != before.run:
        return {}
    held = past.decision.settings.get("places")
    return {int(each): str(to) for each, to in held.items()} if isinstance(held, dict) else {}


def _kept(
    wishes: dict[int, str], memory: Memory, now: Cluster, view: View, terms: Terms
) -> dict[int, str]:
    """Without wishes for executors that go or went, and for partitions that Spark has taken
    elsewhere since: it had a reason, and to move them back and forth would cost every time."""
    return {
        partition: to
        for partition, to in wishes.items()
        if to in now.staying
        and (
            now.places.get(partition, to) == to
            or not memory.rested(partition, view.end_ms, terms.rest_ms)
        )
    }


def _emptied(now: Cluster) -> dict[int, str]:
    found: dict[int, str] = {}
    for name in now.leaving:
        found.update(least_loaded(now, name))
    return found


def _targets(found: Proposals) -> dict[int, str]:
    return {each.partitions[0]: each.target for each in found.plans}


def _moves(found: Proposals, view: View) -> list[Move]:
    return [
        Move(
            partition=each.partitions[0],
            source=each.source,
            target=each.target,
            at_ms=view.end_ms,
            since_ms=round(found.since_ms),
            gain=(each.before_ms - each.first_ms) / each.before_ms,
            ratio=each.ratio,
        )
        for each in found.plans
    ]


def _forced(partition: int, source: str, target: str, view: View) -> Move:
    at_ms = view.end_ms
    return Move(partition, source, target, at_ms, at_ms, 0.0, 1.0, Verdict.FORCED)


def _settings(wished: dict[int, str]) -> dict[str, dict[str, str]]:
    return {"places": {str(partition): to for partition, to in sorted(wished.items())}}


def _names(view: View) -> list[str]:
    return [each.id for each in present(view)]

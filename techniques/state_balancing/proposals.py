"""Which partitions move next: Algorithm 2's pairs, each with a plan that pays."""

from collections.abc import Mapping
from dataclasses import dataclass

from techniques.model import Options
from techniques.state_balancing.algorithm import ALPHA, PERIOD_MS, THRESHOLD, aged_latencies, pairs
from techniques.state_balancing.cluster import Cluster, changes, cluster
from techniques.state_balancing.memory import Memory, Verdict
from techniques.state_balancing.prediction import Plan, plan
from techniques.state_balancing.stages import stateful
from techniques.view import View

# What loading the state of a partition took in the first measurements, until the job shows its own.
MOVE_COST_MS = 800.0
# A partition that moved stays for so many periods.
RESTS_PERIODS = 3
# How far back times and speeds are taken from, in periods: a median needs a few stages, and what
# slowed an executor a minute ago may be gone.
LOOKS_BACK_PERIODS = 3
FEWEST_STAGES = 3


@dataclass(frozen=True)
class Terms:
    """The options, in milliseconds. `cost_ms` is None where the job's own moves tell it."""

    period_ms: float = PERIOD_MS
    threshold: float = THRESHOLD
    alpha: float = ALPHA
    payback_ms: float = 60_000.0
    cost_ms: float | None = None

    @classmethod
    def of(cls, options: Options) -> "Terms":
        return cls(
            period_ms=float(options["period"]) * 1000,
            threshold=float(options["threshold"]),
            alpha=float(options["alpha"]),
            payback_ms=float(options["payback"]) * 1000,
            cost_ms=float(options["move_cost"]) * 1000 or None,
        )

    @property
    def rest_ms(self) -> float:
        return RESTS_PERIODS * self.period_ms

    def move_cost_ms(self, memory: Memory) -> float:
        measured = MOVE_COST_MS if memory.cost_ms is None else memory.cost_ms
        return measured if self.cost_ms is None else self.cost_ms


@dataclass(frozen=True)
class Proposals:
    """Plans that pay, the cluster by which they were made, and the aged latencies (Wt). `since_ms`
    is the beginning of the stages that were looked at."""

    plans: tuple[Plan, ...]
    cluster: Cluster
    latency: Mapping[str, float]
    since_ms: float
    batches: float
    cost_ms: float


def enough(view: View, since_ms: float) -> bool:
    """Whether every kind of stateful stage was seen often enough since then."""
    kinds = {stage.kind for stage in stateful(view)}
    seen = [stage.kind for stage in stateful(view, since_ms)]
    return bool(kinds) and min(seen.count(kind) for kind in kinds) >= FEWEST_STAGES


def looked_at(view: View, memory: Memory, terms: Terms) -> Cluster:
    return cluster(view, _since_ms(view, memory, terms))


def proposed(view: View, memory: Memory, terms: Terms) -> Proposals:
    since_ms = _since_ms(view, memory, terms)
    now = cluster(view, since_ms)
    latency = _latency(view, now, terms)
    batches, cost_ms = terms.payback_ms / now.interval_ms, terms.move_cost_ms(memory)
    plans: list[Plan] = []
    for source, target, partitions in _tried(view, now, memory, terms, latency):
        if any({source, target} & {made.source, made.target} for made in plans):
            continue
        found = plan(now, source, target, partitions, memory.surprise(source, target))
        if found and found.pays(cost_ms, batches):
            plans.append(found)
    return Proposals(tuple(plans), now, latency, since_ms, batches, cost_ms)


def _tried(
    view: View, now: Cluster, memory: Memory, terms: Terms, latency: Mapping[str, float]
) -> list[tuple[str, str, list[int]]]:
    """Moves that made it worse go back first; then the pairs of Algorithm 2, with the partitions
    of the slow executor that may move."""
    lately = {
        partition
        for partition, change in changes(view).items()
        if view.end_ms - change.at_ms < terms.rest_ms
    }
    rested = [
        each
        for each in now.places
        if each not in lately and memory.rested(each, view.end_ms, terms.rest_ms)
    ]
    back = [
        (move.target, move.source, [move.partition])
        for move in memory.moves
        if move.verdict is Verdict.WORSE
        and now.places.get(move.partition) == move.target
        and move.source in now.staying
        and move.partition in rested
    ]
    return back + [
        (slow, fast, [each for each in rested if not memory.failed(each, slow, fast)])
        for slow, fast in pairs(latency, terms.threshold)
    ]


def _latency(view: View, now: Cluster, terms: Terms) -> dict[str, float]:
    """Wt of the executors that stay; 0 for those without state."""
    aged = aged_latencies(stateful(view), view.end_ms, terms.period_ms, terms.alpha)
    taken = set(now.places.values())
    return {
        name: aged[name] if name in taken else 0.0
        for name in now.staying
        if name in aged or name not in taken
    }


def _since_ms(view: View, memory: Memory, terms: Terms) -> float:
    latest_ms = max(memory.at_ms, view.end_ms - LOOKS_BACK_PERIODS * terms.period_ms)
    return latest_ms if enough(view, latest_ms) else float(memory.at_ms)

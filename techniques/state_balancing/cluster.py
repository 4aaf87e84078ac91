"""Who runs the state partitions, how fast, and how long each partition takes there.

An executor's *slowness* is the median duration of its stateful tasks, each divided by the median of
its stage; partitions that are slow wherever they are take no part in it. What may be chance counts
as no difference (rank-sum test). An executor that has no state yet is measured by its other tasks,
on the scale of those that have both.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from techniques.detection import chance
from techniques.detection.slow_partitions import slow_partitions
from techniques.state_balancing.stages import Ran, Stage, stages, stateful
from techniques.view import Executor, View

# Spark's id of the driver; in local mode tasks run there.
DRIVER = "driver"
# Executors are as fast as each other unless chance makes such a difference this rarely.
SIGNIFICANT = 1e-3


@dataclass(frozen=True)
class Node:
    id: str
    host: str
    cores: int
    slowness: float
    leaving: bool = False


@dataclass(frozen=True)
class Change:
    """A partition ran on another executor than before, from the stage on that began then."""

    at_ms: float
    source: str
    target: str


@dataclass(frozen=True)
class Cluster:
    """`places` has the executor of each state partition, `times_ms` how long its tasks take there,
    by kind of stage. `interval_ms` is the time from batch to batch."""

    nodes: Mapping[str, Node]
    places: Mapping[int, str]
    times_ms: Mapping[int, Mapping[int, float]]
    interval_ms: float

    @property
    def staying(self) -> tuple[str, ...]:
        return tuple(name for name, node in self.nodes.items() if not node.leaving)

    @property
    def leaving(self) -> tuple[str, ...]:
        return tuple(name for name, node in self.nodes.items() if node.leaving)

    def on(self, executor: str) -> list[int]:
        return [partition for partition, at in self.places.items() if at == executor]

    def time_ratio(self, source: str, target: str) -> float:
        """How many times as long as on `source` a task is expected to take on `target`."""
        return self.nodes[target].slowness / self.nodes[source].slowness


def present(view: View) -> tuple[Executor, ...]:
    """The executors that run tasks now. Where they are not told, those of the latest tasks."""
    told = {each.id: each for each in view.executors}
    there = tuple(each for each in told.values() if each.left_ms is None and each.id != DRIVER)
    if there or told:
        return there
    latest = {task.executor for stage in stages(view)[-3:] for task in stage.tasks}
    return tuple(Executor(name, "") for name in sorted(latest - {DRIVER}))


def places(view: View) -> dict[int, str]:
    """Where the last task of each state partition ran."""
    found: dict[int, str] = {}
    for stage in stages(view):
        if stage.stateful:
            found.update((task.partition, task.executor) for task in stage.tasks)
    return dict(sorted(found.items()))


def changes(view: View) -> dict[int, Change]:
    """The latest change of each partition in the view, by us or by Spark itself."""
    return view.once(_changes)


def _changes(view: View) -> dict[int, Change]:
    ran_on: dict[int, str] = {}
    found: dict[int, Change] = {}
    for stage in stages(view):
        for task in stage.tasks if stage.stateful else ():
            before = ran_on.get(task.partition, task.executor)
            if before != task.executor:
                found[task.partition] = Change(stage.start_ms, before, task.executor)
            ran_on[task.partition] = task.executor
    return found


def cluster(view: View, since_ms: float) -> Cluster:
    """The cluster by its stages since then."""
    there = {each.id: each for each in present(view)}
    heavy = {(each.kind, each.partition) for each in slow_partitions(view)}
    latest = stateful(view, since_ms)
    slowness = _slowness(latest, stages(view), heavy, there)
    nodes = {
        name: Node(
            name, each.host, each.cores or _cores(latest, name), slowness[name], each.leaving
        )
        for name, each in there.items()
    }
    at = {partition: name for partition, name in places(view).items() if name in nodes}
    times_ms = _times_ms(latest, at)
    at = {partition: name for partition, name in at.items() if partition in times_ms}
    return Cluster(nodes, at, times_ms, _interval_ms(stateful(view)))


def usual_times_ms(
    among: Sequence[Stage], partition: int, executor: str
) -> tuple[dict[int, float], dict[int, float]]:
    """By kind, how long the partition usually takes on the executor, and how long its first task
    there took, which loaded the state; where there is only that one, it is both."""
    ran: dict[int, list[float]] = {}
    for stage in among:
        for task in stage.tasks:
            if task.partition == partition and task.executor == executor:
                ran.setdefault(stage.kind, []).append(task.duration_ms)
    usual = {kind: median(each[1:] or each) for kind, each in ran.items()}
    return usual, {kind: each[0] for kind, each in ran.items()}


def _times_ms(latest: Sequence[Stage], at: Mapping[int, str]) -> dict[int, dict[int, float]]:
    ran: dict[tuple[int, int], list[float]] = {}
    for stage in latest:
        for task in stage.tasks:
            if at.get(task.partition) == task.executor:
                ran.setdefault((task.partition, stage.kind), []).append(task.duration_ms)
    found: dict[int, dict[int, float]] = {}
    for (partition, kind), each in ran.items():
        found.setdefault(partition, {})[kind] = median(each)
    return found


def _slowness(
    latest: Sequence[Stage],
    every: Sequence[Stage],
    heavy: Collection[tuple[int, int]],
    names: Iterable[str],
) -> dict[str, float]:
    with_state = _relative(latest, heavy)
    without = _relative([stage for stage in every if not stage.stateful])
    scale = [with_state[name] / without[name] for name in with_state if name in without]
    usual = median(with_state.values()) if with_state else 1.0
    return {
        name: with_state.get(name)
        or (without[name] * median(scale) if name in without and scale else usual)
        for name in names
    }


def _relative(among: Iterable[Stage], heavy: Collection[tuple[int, int]] = ()) -> dict[str, float]:
    """For each executor the median of its tasks' durations, each against its stage's median; that
    of all tasks where it may be chance that its own differ."""
    ran: dict[str, list[float]] = {}
    for stage in among:
        for task in stage.tasks:
            if stage.usual_ms > 0 and (stage.kind, task.partition) not in heavy:
                ran.setdefault(task.executor, []).append(task.duration_ms / stage.usual_ms)
    usual = median(each for own in ran.values() for each in own) if ran else 1.0
    found = {}
    for name, own in ran.items():
        others = [each for other, theirs in ran.items() if other != name for each in theirs]
        found[name] = median(own) if _differ(own, others) else usual
    return {name: slowness for name, slowness in found.items() if slowness > 0}


def _differ(own: Sequence[float], others: Sequence[float]) -> bool:
    these, those = np.array(own), np.array(others)
    return bool(others) and (
        min(chance.rank_sum(these, those), chance.rank_sum(those, these)) <= SIGNIFICANT
    )


def _cores(latest: Sequence[Stage], name: str) -> int:
    """The most tasks of one stage that ran on the executor at once: a lower bound."""
    return max((_at_once([t for t in s.tasks if t.executor == name]) for s in latest), default=1)


def _at_once(tasks: Sequence[Ran]) -> int:
    starts = [(task.sojourn_ms - task.duration_ms, task.sojourn_ms) for task in tasks]
    counts = (sum(first <= at < last for first, last in starts) for at, _ in starts)
    return max(1, max(counts, default=1))


def _interval_ms(among: Sequence[Stage]) -> float:
    by_kind: dict[int, list[float]] = {}
    for stage in among:
        by_kind.setdefault(stage.kind, []).append(stage.start_ms)
    gaps = [
        after - before
        for starts in by_kind.values()
        for before, after in zip(sorted(starts), sorted(starts)[1:], strict=False)
    ]
    return max(1.0, median(gaps)) if gaps else 1_000.0

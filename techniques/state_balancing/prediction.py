"""How long two executors take for their state partitions, and which moves make that shorter.

The finish of an executor in a stage is that of its tasks handed out to its cores, the longest first
(Graham's LPT: at most a third above the best). With one core it is the sum of the tasks. The finish
of a pair is the later of the two, added up over the stages of a batch.

One move alone may bring nothing although several bring a lot: an executor of four cores with four
slow tasks is done earlier only once all four are gone. So moves are planned ahead and judged
together; the first of them is made, and the next period plans anew.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heapreplace

from techniques.state_balancing.cluster import Cluster

MOST_AHEAD = 16
# Less of the finish than this is noise.
LEAST_GAIN = 0.1

# By partition, how long its tasks take, by kind of stage.
Tasks = Mapping[int, Mapping[int, float]]


@dataclass(frozen=True)
class Plan:
    """Partitions that move from one executor to another, in this order. The finish of both is
    predicted for now, after the first move, and after all of them."""

    source: str
    target: str
    partitions: tuple[int, ...]
    ratio: float
    before_ms: float
    first_ms: float
    after_ms: float

    @property
    def gain_ms(self) -> float:
        return self.before_ms - self.after_ms

    def pays(self, cost_ms: float, batches: float) -> bool:
        """Whether all moves bring more in so many batches than they cost."""
        worth = self.gain_ms >= LEAST_GAIN * self.before_ms
        return worth and self.gain_ms * batches > cost_ms * len(self.partitions)


def finish_ms(tasks: Iterable[float], cores: int) -> float:
    """When the last of the tasks ends, if the longest goes first."""
    ordered = sorted(tasks, reverse=True)
    if len(ordered) <= cores:
        return ordered[0] if ordered else 0.0
    busy_until = ordered[:cores]
    heapify(busy_until)
    for task in ordered[cores:]:
        heapreplace(busy_until, busy_until[0] + task)
    return max(busy_until)


def plan(
    cluster: Cluster,
    source: str,
    target: str,
    movable: Collection[int],
    surprise: float = 1.0,
) -> Plan | None:
    """The moves between two executors that lower the finish of both most, None if none does.

    `surprise` is how many times as long as predicted a partition took that moved so before."""
    ratio = cluster.time_ratio(source, target) * surprise
    stays, there = _tasks(cluster, source), _tasks(cluster, target)
    pair = _Pair(cluster, source, target)
    left = sorted(set(movable) & set(stays))
    moved: list[int] = []
    finishes = [pair.finish(stays, there)]
    while left and len(moved) < MOST_AHEAD:
        tried = {
            partition: (
                {each: ms for each, ms in stays.items() if each != partition},
                {**there, partition: _times(stays[partition], ratio)},
            )
            for partition in left
        }
        done = {partition: pair.finish(*each) for partition, each in tried.items()}
        best = min(left, key=lambda partition: (done[partition].key, partition))
        stays, there = tried[best]
        left.remove(best)
        moved.append(best)
        finishes.append(done[best])
    harmless = [at for at, each in enumerate(finishes) if each.all_ms <= finishes[0].all_ms]
    moves = min(harmless, key=lambda at: (finishes[at].pair_ms, at))
    if not moves:
        return None
    partitions = tuple(moved[:moves])
    before_ms, first_ms, after_ms = (finishes[at].pair_ms for at in (0, 1, moves))
    return Plan(source, target, partitions, ratio, before_ms, first_ms, after_ms)


def least_loaded(cluster: Cluster, source: str) -> dict[int, str]:
    """An executor for each partition of one that is about to go: the longest first, each to where
    it is predicted to be done first."""
    on = {name: dict(_tasks(cluster, name)) for name in cluster.staying if name != source}
    own = _tasks(cluster, source)
    found: dict[int, str] = {}
    for partition in sorted(own, key=lambda each: (-sum(own[each].values()), each)):
        if not on:
            break
        done = {
            name: _finish(
                {**tasks, partition: _times(own[partition], cluster.time_ratio(source, name))},
                cluster.nodes[name].cores,
            )
            for name, tasks in on.items()
        }
        target = min(done, key=lambda name: (sum(done[name].values()), name))
        on[target][partition] = _times(own[partition], cluster.time_ratio(source, target))
        found[partition] = target
    return found


def makespan_ms(cluster: Cluster) -> float:
    """When the last executor is done, added up over the stages of a batch."""
    latest: dict[int, float] = {}
    for name, node in cluster.nodes.items():
        latest = _later(latest, _finish(_tasks(cluster, name), node.cores))
    return sum(latest.values())


@dataclass(frozen=True)
class _Finish:
    """The finish of a pair, and of all executors. `smooth_ms` is that of the pair if tasks could be
    divided among cores: it tells apart moves that do not change the finish yet."""

    pair_ms: float
    all_ms: float
    smooth_ms: float

    @property
    def key(self) -> tuple[float, float]:
        return self.pair_ms, self.smooth_ms


class _Pair:
    def __init__(self, cluster: Cluster, source: str, target: str) -> None:
        self._cores = cluster.nodes[source].cores, cluster.nodes[target].cores
        self._others: dict[int, float] = {}
        for name, node in cluster.nodes.items():
            if name not in (source, target):
                self._others = _later(self._others, _finish(_tasks(cluster, name), node.cores))

    def finish(self, stays: Tasks, there: Tasks) -> _Finish:
        own, its = self._cores
        pair = _later(_finish(stays, own), _finish(there, its))
        smooth = _later(_shared(stays, own), _shared(there, its))
        everywhere = _later(pair, self._others)
        return _Finish(sum(pair.values()), sum(everywhere.values()), sum(smooth.values()))


def _tasks(cluster: Cluster, executor: str) -> Tasks:
    return {partition: cluster.times_ms[partition] for partition in cluster.on(executor)}


def _times(times: Mapping[int, float], ratio: float) -> dict[int, float]:
    return {kind: ms * ratio for kind, ms in times.items()}


def _by_kind(tasks: Tasks) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for times in tasks.values():
        for kind, ms in times.items():
            found.setdefault(kind, []).append(ms)
    return found


def _finish(tasks: Tasks, cores: int) -> dict[int, float]:
    return {kind: finish_ms(each, cores) for kind, each in _by_kind(tasks).items()}


def _shared(tasks: Tasks, cores: int) -> dict[int, float]:
    return {kind: sum(each) / cores for kind, each in _by_kind(tasks).items()}


def _later(some: Mapping[int, float], others: Mapping[int, float]) -> dict[int, float]:
    return {
        kind: max(some.get(kind, 0.0), others.get(kind, 0.0)) for kind in sorted({*some, *others})
    }

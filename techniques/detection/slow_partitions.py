"""State partitions that are slow wherever they are: their key range is heavy, not their executor.

A task is compared only with the tasks of the other partitions that ran in the same stage on the
same executor, so neither a slow executor nor a large batch makes a partition slow. Only stateful
stages count: elsewhere the number of a partition means something else in every batch.

Held against chance: the rank-sum test, times the number of partitions, because the slowest of them
is the one that is looked at.
"""

from dataclasses import dataclass

import numpy as np

from techniques.detection import chance
from techniques.intervals import Floats, Ints, Objects
from techniques.view import Tasks, View
from techniques.view.tasks import Bools

SLOWER = 2.0
# The first task of a stage on an executor fetches and reads the stage's code as well, and it is
# that of the same partition every time.
SLOWER_IF_FIRST = 4.0
SIGNIFICANT = 1e-3
# The first task of a partition on an executor loads its state: one or two tasks say little.
FEWEST_TASKS = 3


@dataclass(frozen=True)
class SlowPartition:
    """`ratio` is the median, over its tasks, of their duration divided by the median of the other
    partitions in the same stage on the same executor. `executors` are those on which it was slow,
    in the order of their names."""

    kind: int
    partition: int
    ratio: float
    p_value: float
    executors: tuple[str, ...]
    tasks: int
    mean_ms: float
    others_ms: float


@dataclass(frozen=True, eq=False)
class _Compared:
    """Tasks that ran beside others of their stage on the same executor. `group` numbers the pairs
    of stage and executor, `usual_ms` is the median of the others in the group, `first` whether the
    task was launched before all others of the group."""

    kind: Ints
    partition: Ints
    executor: Objects
    group: Ints
    duration_ms: Floats
    usual_ms: Floats
    first: Bools


def slow_partitions(view: View) -> tuple[SlowPartition, ...]:
    """The slowest first."""
    return view.once(_search)


def _search(view: View) -> tuple[SlowPartition, ...]:
    tasks = _compared(view.tasks)
    pairs = np.unique(np.stack((tasks.kind, tasks.partition)), axis=1)
    found = (
        _slow(tasks, kind, partition, tried=int((pairs[0] == kind).sum()))
        for kind, partition in pairs.T.tolist()
    )
    return tuple(sorted((each for each in found if each), key=lambda each: -each.ratio))


def _compared(tasks: Tasks) -> _Compared:
    rows = np.flatnonzero(
        tasks.stateful & tasks.successful & (tasks.kind >= 0) & (tasks.partition >= 0)
    )
    executor_of = np.unique(tasks.executor[rows].astype(str), return_inverse=True)[1]
    stages = np.stack((tasks.stage[rows], tasks.stage_attempt[rows], executor_of))
    group = np.unique(stages, axis=1, return_inverse=True)[1].reshape(-1)
    usual_ms = medians_of_others(group, tasks.duration_ms[rows])
    kept = usual_ms > 0
    start_ms = tasks.start_ms[rows]
    rows = rows[kept]
    return _Compared(
        tasks.kind[rows],
        tasks.partition[rows],
        tasks.executor[rows],
        group[kept],
        tasks.duration_ms[rows],
        usual_ms[kept],
        _launched_first(group, start_ms)[kept],
    )


def _launched_first(group: Ints, start_ms: Floats) -> Bools:
    """Whether each is the only earliest one of its group."""
    earliest = np.full(group.max(initial=-1) + 1, np.inf)
    np.minimum.at(earliest, group, start_ms)
    is_earliest = start_ms == earliest[group]
    first: Bools = is_earliest & (np.bincount(group, is_earliest, len(earliest))[group] == 1)
    return first


def medians_of_others(group: Ints, values: Floats) -> Floats:
    """For each value the median of the other values of its group; NaN if there are none.

    In the sorted group of n values without that at rank r, the value at i is the sorted one at i,
    or at i + 1 from r on."""
    order = np.lexsort((values, group))
    sizes = np.bincount(group)
    firsts = (np.cumsum(sizes) - sizes)[group[order]]
    size, rank = sizes[group[order]], np.arange(len(order)) - firsts
    ascending = values[order]
    middle = np.full(len(order), np.nan)
    several = size > 1
    lower, upper = ((size - 2) // 2)[several], ((size - 1) // 2)[several]
    first, own = firsts[several], rank[several]
    middle[several] = (
        ascending[first + lower + (lower >= own)] + ascending[first + upper + (upper >= own)]
    ) / 2
    found = np.empty(len(order))
    found[order] = middle
    return found


def _slow(tasks: _Compared, kind: int, partition: int, tried: int) -> SlowPartition | None:
    own = (tasks.kind == kind) & (tasks.partition == partition)
    ratios, ran_on = tasks.duration_ms[own] / tasks.usual_ms[own], tasks.executor[own]
    on = {name: ratios[ran_on == name] for name in sorted(set(ran_on.tolist()))}
    enough = {name: each for name, each in on.items() if len(each) >= FEWEST_TASKS}
    least = SLOWER_IF_FIRST if np.median(tasks.first[own]) > 0 else SLOWER
    if not enough or min(float(np.median(each)) for each in enough.values()) < least:
        return None
    usual_ms = dict(zip(tasks.group[own].tolist(), tasks.usual_ms[own].tolist(), strict=True))
    beside = np.isin(tasks.group, tasks.group[own]) & ~own
    others_ms = tasks.duration_ms[beside]
    relative = others_ms / np.array([usual_ms[each] for each in tasks.group[beside].tolist()])
    p_value = min(1.0, tried * chance.rank_sum(ratios, relative))
    if p_value > SIGNIFICANT:
        return None
    return SlowPartition(
        kind=kind,
        partition=partition,
        ratio=float(np.median(ratios)),
        p_value=p_value,
        executors=tuple(enough),
        tasks=int(own.sum()),
        mean_ms=float(tasks.duration_ms[own].mean()),
        others_ms=float(others_ms.mean()),
    )

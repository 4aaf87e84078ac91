"""Straggler: an executor whose tasks take persistently longer than its siblings' of the same stage;
or an instance of an operator pool whose chunks do.

Stages are compared with themselves: a task's duration is divided by the median of its stage, so a
long stage does not make its executor slow. Held against chance: the rank-sum test.
"""

import numpy as np

from techniques.detection import chance
from techniques.detection.finding import Finding
from techniques.detection.slow_instances import Slowest, slowest
from techniques.intervals import Floats, Intervals, Ints, Objects
from techniques.model import Evidence
from techniques.view import Reads, View

KIND = "straggler"
# What a slow executor may be relieved of is its state, and a slow instance of a pool its chunks;
# Spark gives all other tasks to whoever has a free core.
TECHNIQUE: str | None = "state_balancing"
IN_POOLS = "latency_balancing"
READS = frozenset((Reads.INTERVALS, Reads.TASKS, Reads.POOLS))
FEWEST_TASKS = 20
SLOWER = 1.5
SIGNIFICANT = 1e-4


def find(view: View) -> list[Finding]:
    return _executors(view) + _instances(view)


def _instances(view: View) -> list[Finding]:
    """The slowest instance of all pools: with its weight less, the next one shows."""
    slow = [each for each in slowest(view, view.start_ms) if each.is_slow]
    return [_of_pool(view, each) for each in slow[:1]]


def _executors(view: View) -> list[Finding]:
    relative = _relative(view.of("task"))
    if len(relative) < 2:
        return []
    found = []
    for executor, own in relative.items():
        others = np.concatenate([theirs for other, theirs in relative.items() if other != executor])
        if min(len(own), len(others)) < FEWEST_TASKS:
            continue
        ratio = float(np.median(own) / np.median(others))
        if ratio >= SLOWER and (p_value := chance.rank_sum(own, others)) <= SIGNIFICANT:
            found.append(_finding(view, executor, ratio, p_value, len(own)))
    return found


def _relative(tasks: Intervals) -> dict[str, Floats]:
    """For each executor, the durations of its tasks divided by the median of their stage. Stages
    that ran on a single executor are left out."""
    stage_of, stages = _numbered(tasks.name)
    executor_of, executors = _numbered(tasks.executor)
    order = np.lexsort((tasks.duration_ms, stage_of))
    durations = tasks.duration_ms[order]
    sizes = np.bincount(stage_of, minlength=len(stages))
    firsts = np.cumsum(sizes) - sizes
    lower, upper = durations[firsts + (sizes - 1) // 2], durations[firsts + sizes // 2]
    usual = (lower + upper) / 2
    pairs = np.unique(stage_of * max(1, len(executors)) + executor_of)
    involved = np.bincount(pairs // max(1, len(executors)), minlength=len(stages))
    comparable = ((usual > 0) & (involved > 1))[stage_of]
    ratios = tasks.duration_ms[comparable] / usual[stage_of[comparable]]
    by = executor_of[comparable]
    return {executors[number]: ratios[by == number] for number in np.unique(by).tolist()}


def _numbered(names: Objects) -> tuple[Ints, list[str]]:
    """Returns a number for each name, in order of first appearance, and the names by number."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(name, len(numbers)) for name in names.tolist()]
    return np.array(found, dtype=np.int64), list(numbers)


def _finding(view: View, executor: str, ratio: float, p_value: float, tasks: int) -> Finding:
    return Finding(
        kind=KIND,
        title=f"Executor {executor} takes {ratio:.1f} times as long as the others",
        spans_ms=((view.start_ms, view.end_ms),),
        p_value=p_value,
        added_ms=0.0,
        explanation=(
            f"Over {tasks} tasks, each against the median of its own stage, executor {executor} "
            f"took {ratio:.1f} times as long as its siblings. Every batch waits for its last task."
        ),
        evidence=(
            Evidence("tasks compared", str(tasks)),
            Evidence("median against siblings", f"{ratio:.2f} ×"),
            Evidence("p-value: equal executors would differ so (rank sum)", f"{p_value:.2g}"),
        ),
        executors=(executor,),
        technique=TECHNIQUE if _has_state(view, executor) else None,
    )


def _has_state(view: View, executor: str) -> bool:
    return bool((view.tasks.stateful & (view.tasks.executor == executor)).any())


def _of_pool(view: View, slow: Slowest) -> Finding:
    name, pool = slow.instance.name, slow.siblings.pool
    return Finding(
        kind=KIND,
        title=f"{name} of pool {pool.name} takes {slow.ratio:.1f} times as long as its siblings",
        spans_ms=((view.start_ms, view.end_ms),),
        p_value=slow.p_value,
        added_ms=slow.mean_ms - slow.others_ms,
        explanation=(
            f"A chunk takes {slow.mean_ms:.3g} ms on average at {name} on {pool.host}, waiting "
            f"included, and {slow.others_ms:.3g} ms at the other instances of "
            f"{slow.siblings.operator}. Every batch waits for its last chunk."
        ),
        evidence=slow.evidence,
        technique=IN_POOLS,
    )

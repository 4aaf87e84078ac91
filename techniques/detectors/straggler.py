"""Straggler: an executor whose tasks take persistently longer than its siblings' of the same stage.

Stages are compared with themselves: a task's duration is divided by the median of its stage, so a
long stage does not make its executor slow. Held against chance: the rank-sum test.
"""

import math
from statistics import median

import numpy as np

from techniques.detectors.finding import Finding
from techniques.model import Evidence
from techniques.view import View

KIND = "straggler"
FEWEST_TASKS = 20
SLOWER = 1.5
SIGNIFICANT = 1e-4


def find(view: View) -> list[Finding]:
    stages: dict[str, list[tuple[str, float]]] = {}
    for task in view.of("task"):
        stages.setdefault(task.name, []).append((task.executor, task.duration_ms))
    relative: dict[str, list[float]] = {}
    for tasks in stages.values():
        usual = median(duration for _, duration in tasks)
        if usual > 0 and len({executor for executor, _ in tasks}) > 1:
            for executor, duration in tasks:
                relative.setdefault(executor, []).append(duration / usual)
    if len(relative) < 2:
        return []
    found = []
    for executor, own in relative.items():
        others = [
            each for other, theirs in relative.items() if other != executor for each in theirs
        ]
        if min(len(own), len(others)) < FEWEST_TASKS:
            continue
        ratio = median(own) / median(others)
        p_value = _rank_sum(own, others)
        if ratio >= SLOWER and p_value <= SIGNIFICANT:
            found.append(_finding(view, executor, ratio, p_value, len(own)))
    return found


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
            Evidence("that equals differ so (rank sum)", f"{p_value:.2g}"),
        ),
        executors=(executor,),
    )


def _rank_sum(own: list[float], others: list[float]) -> float:
    """One-sided, normal approximation: fine from twenty on each side."""
    together = np.array(own + others)
    ranks = np.argsort(np.argsort(together, kind="stable")) + 1
    n, m = len(own), len(others)
    surplus = float(ranks[:n].sum()) - n * (n + m + 1) / 2
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(surplus / spread / math.sqrt(2)) / 2

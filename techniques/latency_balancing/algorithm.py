"""Algorithm 2 of Du & Gupta: units of traffic move from slow tasks to fast ones.

Weights are shares of one dispatcher's traffic in percent; they add up to 100.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The paper's parameters. `least` is ours: an instance that gets nothing could not be seen to
    have recovered."""

    alpha: float = 0.5
    threshold: float = 1.2
    unit: float = 1.0
    least: float = 1.0


def even(tasks: Iterable[int]) -> dict[int, float]:
    each = list(tasks)
    return dict.fromkeys(each, 100 / len(each)) if each else {}


def aged(
    before: Mapping[int, float], measured: Mapping[int, float], alpha: float
) -> dict[int, float]:
    """Lines 3 to 6. The first measurement of a task stands as it is; a task that nothing was
    measured of keeps its latency."""
    tasks = {**before, **measured}
    return {
        task: alpha * measured[task] + (1 - alpha) * before[task]
        if task in measured and task in before
        else tasks[task]
        for task in tasks
    }


def shifted(
    weights: Mapping[int, float], latency: Mapping[int, float], tuning: Tuning
) -> dict[int, float]:
    """Lines 7 to 15: pairs the slowest with the fastest, and so on; stops at the first pair within
    tolerance. Tasks without a latency take no part."""
    moved = dict(weights)
    ranked = sorted((task for task in weights if task in latency), key=lambda task: latency[task])
    for fast, slow in zip(ranked[: len(ranked) // 2], reversed(ranked), strict=False):
        if latency[slow] <= tuning.threshold * latency[fast]:
            break
        unit = min(tuning.unit, max(0.0, moved[slow] - tuning.least))
        moved[slow] -= unit
        moved[fast] += unit
    return moved


def settled_to(weights: Mapping[int, float], tasks: Iterable[int]) -> dict[int, float]:
    """The weights for the tasks that there are now: what a gone one had is spread over the others,
    a new one gets an even share."""
    now = list(tasks)
    if not now:
        return {}
    kept = {task: weights.get(task, 100 / len(now)) for task in now}
    whole = sum(kept.values())
    return {task: weight * 100 / whole for task, weight in kept.items()}

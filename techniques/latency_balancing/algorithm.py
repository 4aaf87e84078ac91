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
    now = list(tasks)
    return dict.fromkeys(now, 100 / len(now)) if now else {}


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


def begun_with(
    shares: Mapping[int, float], tasks: Iterable[int], least: float = Tuning.least
) -> dict[int, float]:
    """The weights to begin with, where somebody set shares for some tasks: the others divide what
    is left of 100 % evenly."""
    now = list(tasks)
    others = [task for task in now if task not in shares]
    left = 100 - sum(shares[task] for task in now if task in shares)
    rest = dict.fromkeys(others, left / len(others)) if others and left > 0 else {}
    return settled_to({**shares, **rest}, now, least)


def settled_to(
    weights: Mapping[int, float], tasks: Iterable[int], least: float = Tuning.least
) -> dict[int, float]:
    """The weights for the tasks that there are now: a new one gets an even share of all, the others
    divide the rest as before. Who would get less than `least` gets that, at the expense of what the
    others have above it; where there are too many tasks for that, all get the same."""
    now = list(tasks)
    kept = {task: weights[task] for task in now if task in weights}
    whole = sum(kept.values())
    if whole <= 0 or len(now) * least >= 100:
        return even(now)
    share = 100 / len(now)
    scale = share * len(kept) / whole
    wanted = {task: kept[task] * scale if task in kept else share for task in now}
    above = {task: max(0.0, weight - least) for task, weight in wanted.items()}
    room = (100 - len(now) * least) / sum(above.values())
    return {task: least + weight * room for task, weight in above.items()}

"""Algorithm 2 of Du & Gupta with executors as tasks and the state partition as unit of traffic.

    Wt_j ← α · T_j + (1 − α) · Wt_j      the aged latency of executor j, lines 3 to 6
    sort by Wt; pair the slowest with the fastest, the second slowest with the second fastest, …
    Wt_slow / Wt_fast > thres            one unit moves; else stop, lines 7 to 15

T_j is the mean sojourn of the stateful tasks that executor j ran in the last period: the time from
the submission of their stage to their end, divided by the median of the stage. The wait for a core
is part of it, for an executor with too many partitions is slow by making them wait; in the paper
the latency at a task has the task's queue in it.
"""

from collections.abc import Mapping, Sequence

from techniques.latency_balancing.algorithm import aged
from techniques.state_balancing.stages import Stage

ALPHA, THRESHOLD, PERIOD_MS = 0.5, 1.2, 10_000.0


def latencies(stages: Sequence[Stage]) -> dict[str, float]:
    """T of each executor over these stages: the mean of its means."""
    means: dict[str, list[float]] = {}
    for stage in stages:
        for executor, mean in stage.relative_sojourns.items():
            means.setdefault(executor, []).append(mean)
    return {executor: sum(each) / len(each) for executor, each in means.items()}


def aged_latencies(
    stages: Sequence[Stage], end_ms: float, period_ms: float, alpha: float
) -> dict[str, float]:
    """Wt of each executor: lines 3 to 6 for every period up to `end_ms`, the oldest first.

    It is worked out anew from the stages instead of being remembered: after seven periods less
    than a hundredth of a measurement is left, and stages are known for two minutes."""
    by_period: dict[int, list[Stage]] = {}
    for stage in stages:
        by_period.setdefault(int((end_ms - stage.end_ms) // period_ms), []).append(stage)
    before: dict[str, float] = {}
    for ago in sorted(by_period, reverse=True):
        before = _aged(before, latencies(by_period[ago]), alpha)
    return before


def pairs(latency: Mapping[str, float], threshold: float) -> list[tuple[str, str]]:
    """Slow and fast executors, paired from the outside in, up to the first pair within
    tolerance. An executor without state has a latency of 0: it is the fastest."""
    ranked = sorted(latency, key=lambda executor: (latency[executor], executor))
    found = []
    for fast, slow in zip(ranked[: len(ranked) // 2], reversed(ranked), strict=False):
        if latency[slow] <= threshold * latency[fast]:
            break
        found.append((slow, fast))
    return found


def _aged(
    before: Mapping[str, float], measured: Mapping[str, float], alpha: float
) -> dict[str, float]:
    """`aged` numbers its tasks."""
    names = sorted({*before, *measured})
    found = aged(
        {at: before[name] for at, name in enumerate(names) if name in before},
        {at: measured[name] for at, name in enumerate(names) if name in measured},
        alpha,
    )
    return {names[at]: latency for at, latency in found.items()}

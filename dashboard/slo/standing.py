"""Where a job stands against its SLO, as the list of jobs shows it. Pure."""

from typing import Any

from dashboard.models import Slo
from dashboard.slo.current import read
from techniques.slo.objective import LatencyTarget, Objective, Of, Statistic


def told_by_pulse(latency: LatencyTarget) -> bool:
    """Whether heartbeats carry this latency, so that no frame has to be read for it."""
    return (latency.of, latency.statistic) == (Of.PROCESSED, Statistic.P99)


def as_dict(slo: Slo, p99_ms: float | None) -> dict[str, Any] | None:
    """`p99_ms`: of processed records, as the last heartbeat has it."""
    objective = read(slo.job_id, slo.objective)
    if objective is None:
        return None
    latency_ms = p99_ms if objective.latency and told_by_pulse(objective.latency) else None
    return {
        "objective": slo.objective,
        "version": slo.version,
        "latency_ms": latency_ms,
        "juice": None,
        "ratio": ratio(objective, latency_ms, None),
    }


def ratio(objective: Objective, latency_ms: float | None, juice: float | None) -> float | None:
    """How many times the target that is met worst is missed; at most 1 if all are met, None if
    nothing is measured."""
    ratios = []
    if objective.latency and latency_ms is not None:
        ratios.append(latency_ms / objective.latency.threshold_ms)
    if objective.juice and juice is not None:
        # A job that processes nothing must still be a number in JSON.
        ratios.append(objective.juice.threshold / max(juice, 0.001))
    return max(ratios, default=None)

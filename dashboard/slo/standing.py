"""Where a job stands against its SLO, as the list of jobs shows it. Pure."""

from typing import Any

from dashboard.models import Slo
from dashboard.slo.current import read
from dashboard.slo.evaluation import told_by_pulse
from techniques.slo.objective import Objective

# What was measured longer ago is not how the job does now.
FRESH_MS = 60_000


def as_dict(slo: Slo, p99_ms: float | None, now_ms: int) -> dict[str, Any] | None:
    """`p99_ms`: of processed records, as the last heartbeat has it. None if there is no SLO that
    this version can read."""
    objective = read(slo.job_id, slo.objective)
    if objective is None:
        return None
    latency_ms, juice = measured(slo, now_ms)
    if told_by_pulse(objective):
        latency_ms = p99_ms
    return {
        "objective": slo.objective,
        "version": slo.version,
        "latency_ms": latency_ms,
        "juice": juice,
        "utility": objective.utility(latency_ms, juice),
        "ratio": ratio(objective, latency_ms, juice),
        "violated_ms": slo.violated_ms,
    }


def measured(slo: Slo, now_ms: int) -> tuple[float | None, float | None]:
    """Latency and juice of the last bin, None where that is long ago."""
    if now_ms - slo.judged_ms >= FRESH_MS:
        return None, None
    return slo.latency_ms, slo.juice


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

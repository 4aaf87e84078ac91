"""Objectives and what was measured, as people read them."""

from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Statistic

STATISTICS = {
    Statistic.MEAN: "mean latency",
    Statistic.P95: "p95",
    Statistic.P99: "p99",
    Statistic.P999: "p99.9",
}


def of_objective(objective: Objective) -> str:
    """As "p99 of committed records at most 500 ms, juice at least 0.95"."""
    parts = []
    if latency := objective.latency:
        threshold = ms(latency.threshold_ms)
        parts.append(f"{STATISTICS[latency.statistic]} of {latency.of} records at most {threshold}")
    if juice := objective.juice:
        parts.append(f"juice at least {juice.threshold:.3g}")
    return ", ".join(parts)


def of_missed(objective: Objective, latency_ms: float | None, juice: float | None) -> str:
    """As "p99 is 812 ms, 500 ms are promised": the targets that these values miss."""
    parts = []
    latency_target, juice_target = objective.latency, objective.juice
    if latency_target and latency_ms is not None and not latency_target.met(latency_ms):
        parts.append(_latency(latency_target, latency_ms))
    if juice_target and juice is not None and not juice_target.met(juice):
        parts.append(_juice(juice_target, juice))
    return "; ".join(parts)


def _latency(target: LatencyTarget, latency_ms: float) -> str:
    is_now, promised = ms(latency_ms), ms(target.threshold_ms)
    return f"{STATISTICS[target.statistic]} is {is_now}, {promised} are promised"


def _juice(target: JuiceTarget, juice: float) -> str:
    return f"juice is {juice:.3g}, {target.threshold:.3g} is promised"


def ms(value: float) -> str:
    """Three significant digits: an SLO of 0.5 ms must not read as 0."""
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"

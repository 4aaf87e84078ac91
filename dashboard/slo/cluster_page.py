"""Clusters as the API shows them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from collectors.formats.pulse import BIN_MS
from dashboard.slo import cluster_records, hours, standing
from dashboard.slo.cluster_records import Cluster, Member
from techniques.slo.objective import meets

Line = list[float | None]
# A chart has no room for more.
MOST_STEPS = 720


def summary(cluster: Cluster, now_ms: int) -> dict[str, Any]:
    shown = [_job(each, now_ms) for each in cluster.members]
    return {
        **_head(cluster, shown),
        "jobs": len(shown),
        "with_slo": sum(each["objective"] is not None for each in shown),
        "met": sum(each["met"] is True for each in shown),
    }


def page(cluster: Cluster, span_ms: int, now_ms: int) -> dict[str, Any]:
    shown = [_job(each, now_ms) for each in cluster.members]
    budgets = hours.budgets(cluster.job_ids, now_ms)
    listed = cluster.memory.blacklist if cluster.memory else {}
    for each in shown:
        each["budgets"] = {over: asdict(told) for over, told in budgets[each["id"]].items()}
        held = listed.get(each["id"])
        if held and held.until_ms > now_ms:
            each["blacklisted"] = {"until_ms": held.until_ms, "why": str(held.why)}
        else:
            each["blacklisted"] = None
    return {
        **_head(cluster, shown),
        "since_ms": cluster.memory.since_ms if cluster.memory else None,
        "jobs": shown,
        "series": _series(cluster, span_ms, now_ms),
        "actions": [asdict(each) for each in cluster_records.entries(cluster, now_ms - span_ms)],
        "now_ms": now_ms,
    }


def _head(cluster: Cluster, shown: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "mode": cluster.mode,
        "state": str(cluster.memory.state) if cluster.memory else None,
        "size": cluster.size,
        "utility": _sum([each["utility"] for each in shown]),
        "max_utility": _most(cluster),
    }


def _job(member: Member, now_ms: int) -> dict[str, Any]:
    slo, objective = member.slo, member.objective
    latency_ms, juice = standing.measured(slo, now_ms) if slo else (None, None)
    return {
        "id": member.job_id,
        "objective": slo.objective if slo and objective else None,
        "version": slo.version if slo and objective else 0,
        "latency_ms": latency_ms,
        "juice": juice,
        "utility": objective and objective.utility(latency_ms, juice),
        "met": objective and meets(objective, latency_ms, juice),
    }


def _series(cluster: Cluster, span_ms: int, now_ms: int) -> dict[str, Any]:
    """Steps longer than a bin have the lowest value in them: a dip must not be averaged away."""
    per_step = max(1, -(-span_ms // BIN_MS // MOST_STEPS))
    step_ms = per_step * BIN_MS
    end_ms = now_ms // step_ms * step_ms
    start_ms = end_ms - span_ms // step_ms * step_ms
    with_slo = [each.job_id for each in cluster.members if each.objective]
    lines = hours.utilities(with_slo, start_ms, end_ms)
    total = [_sum(values) for values in zip(*lines.values(), strict=True)]
    if not lines:
        total = [None] * ((end_ms - start_ms) // BIN_MS)
    lowest = _lowest(total, per_step)
    most = _most(cluster)
    return {
        "step_ms": step_ms,
        "t": list(range(start_ms, end_ms, step_ms)),
        "total": lowest,
        "max": [None if each is None else most for each in lowest],
        "jobs": {job_id: _lowest(line, per_step) for job_id, line in lines.items()},
    }


def _lowest(line: Line, per_step: int) -> Line:
    if per_step == 1:
        return line
    cut = (line[at : at + per_step] for at in range(0, len(line), per_step))
    return [min((each for each in part if each is not None), default=None) for part in cut]


def _sum(values: Sequence[float | None]) -> float | None:
    """Of what is known; None if nothing is."""
    known = [each for each in values if each is not None]
    return round(sum(known), 4) if known else None


def _most(cluster: Cluster) -> float:
    """Of the jobs that did not end: one that fell silent is worth nothing of what it could be."""
    counted = (each.objective for each in cluster.members if not each.has_ended)
    return round(sum(each.priority for each in counted if each), 4)

"""SLO violations and lost jobs as alert events."""

from urllib.parse import quote

from collectors.formats.pulse import BIN_MS
from dashboard.alerts.events import Event, Severity, Type
from dashboard.alerts.times import rfc3339
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import Run, Slo
from dashboard.slo import burn, wording
from dashboard.slo.burn import FAST, State, burning
from dashboard.slo.evaluation import Outcome
from dashboard.slo.standing import ratio
from techniques.slo.objective import Objective

SLO_KIND = "slo"
COLLECTOR_KIND = "collector"
# From this multiple of the SLO on, a violation is critical.
CRITICAL = 2.0


def violated(slo: Slo, objective: Objective, state: State, missed: Outcome) -> Event:
    """`missed` is the bin with which it became violated."""
    pair = burning(state.outcomes) or FAST
    window = state.outcomes[-pair.long_bins :]
    rate = burn.rate(window, pair.long_bins // 2)
    worst = ratio(objective, missed.latency_ms, missed.juice) or 0.0
    return Event(
        type=Type.SLO_VIOLATED,
        job=slo.job_id,
        kind=SLO_KIND,
        severity=Severity.CRITICAL if worst >= CRITICAL else Severity.WARNING,
        title=wording.of_missed(objective, missed.latency_ms, missed.juice),
        explanation=(
            f"Of the last {len(window)} times {BIN_MS // 1000} s in which something was measured, "
            f"{window.count(burn.MISSED)} missed the SLO, the latest as in the title. That uses up "
            f"the error budget, {burn.ALLOWED:.0%} of all, {rate:.3g} times as fast as is allowed; "
            f"from {pair.rate:g} times on somebody is told."
        ),
        onset_ms=state.violated_ms or missed.start_ms,
        evidence={
            "slo": wording.of_objective(objective),
            "latency_ms": missed.latency_ms and round(missed.latency_ms, 3),
            "juice": missed.juice and round(missed.juice, 4),
            "burn_rate": rate,
            "window": pair.name,
            "objective": slo.objective,
        },
        link=_page(slo.job_id),
    )


def restored(slo: Slo, objective: Objective, since_ms: int, end_ms: int) -> Event:
    return _over(
        slo,
        since_ms,
        end_ms,
        f"Again {wording.of_objective(objective)}",
        f"For {burn.QUIET_BINS * BIN_MS // 1000} s at least no {BIN_MS // 1000} s missed the SLO, "
        f"and its error budget is no longer used up faster than is allowed.",
    )


def taken_back(slo: Slo, since_ms: int, end_ms: int, who: str) -> Event:
    """Ends the violation because the SLO was withdrawn, not because the job got better."""
    return _over(
        slo,
        since_ms,
        end_ms,
        "The SLO was taken back",
        f"{who} took it back while it was violated.",
    )


def lost(run: Run, last_ms: int) -> Event:
    return Event(
        type=Type.COLLECTOR_LOST,
        job=run.job_id,
        kind=COLLECTOR_KIND,
        severity=Severity.WARNING,
        title="The job's collector is silent",
        explanation=(
            f"Its last heartbeat is of {rfc3339(last_ms)}, more than {STALE_AFTER_MS // 1000} s "
            f"ago, and the job did not say that it ended. The driver may be gone, hung, or cut "
            f"off from Redis; until it is back nothing is known of the job."
        ),
        onset_ms=last_ms,
        evidence={
            "last_heartbeat_ms": last_ms,
            "driver_host": run.driver_host,
            "application_id": run.application_id,
        },
        link=_page(run.job_id),
    )


def _over(slo: Slo, since_ms: int, end_ms: int, title: str, explanation: str) -> Event:
    return Event(
        type=Type.SLO_RESTORED,
        job=slo.job_id,
        kind=SLO_KIND,
        severity=Severity.INFO,
        title=title,
        explanation=explanation,
        onset_ms=since_ms,
        end_ms=max(since_ms, end_ms),
        evidence={"objective": slo.objective},
        link=_page(slo.job_id),
    )


def _page(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"

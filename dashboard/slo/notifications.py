"""SLO violations and lost jobs as alert events."""

from urllib.parse import quote

from collectors.formats.pulse import BIN_MS
from dashboard.alerts.events import Event, Severity, Type
from dashboard.alerts.times import rfc3339
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import Run, Slo
from dashboard.slo.current import read
from dashboard.slo.evaluation import BINS, IN_A_ROW

SLO_KIND = "slo"
COLLECTOR_KIND = "collector"
# From this multiple of the SLO on, a violation is critical.
CRITICAL = 2.0


def violated(slo: Slo, since_ms: int, p99_ms: float) -> Event:
    promised_ms = _threshold_ms(slo)
    return Event(
        type=Type.SLO_VIOLATED,
        job=slo.job_id,
        kind=SLO_KIND,
        severity=Severity.CRITICAL if p99_ms >= CRITICAL * promised_ms else Severity.WARNING,
        title=f"p99 is {_ms(p99_ms)} ms, {_ms(promised_ms)} ms are promised",
        explanation=(
            f"Of the records of the last minute, one in a hundred took longer than {_ms(p99_ms)} "
            f"ms. That was above the SLO of {_ms(promised_ms)} ms in {IN_A_ROW} judgements in a "
            f"row, {BIN_MS // 1000} s apart."
        ),
        onset_ms=since_ms,
        evidence={"p99_ms": round(p99_ms, 3), "objective": slo.objective},
        link=_page(slo.job_id),
    )


def restored(slo: Slo, since_ms: int, end_ms: int) -> Event:
    promised_ms = _threshold_ms(slo)
    return _over(
        slo,
        since_ms,
        end_ms,
        f"p99 is within {_ms(promised_ms)} ms again",
        f"For {BINS * BIN_MS // 1000} s no p99 of {BIN_MS // 1000} s was above the SLO of "
        f"{_ms(promised_ms)} ms.",
    )


def taken_back(slo: Slo, since_ms: int, end_ms: int, who: str) -> Event:
    """Ends the violation because the SLO was withdrawn, not because the latency got better."""
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


def _threshold_ms(slo: Slo) -> float:
    objective = read(slo.job_id, slo.objective)
    return objective.latency.threshold_ms if objective and objective.latency else 0.0


def _page(job_id: str) -> str:
    return f"/jobs/{quote(job_id, safe='')}"


def _ms(ms: float) -> str:
    """Three significant digits: an SLO of 0.5 ms must not read as 0."""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"

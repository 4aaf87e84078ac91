"""The alert event when the state that a job reports for a technique changes."""

from urllib.parse import quote

from dashboard.alerts.events import Event, Severity, Type
from dashboard.models import TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering.registered import registry
from dashboard.steering.status import Status

_TOLD = {
    Stand.APPLIED: (Type.TECHNIQUE_APPLIED, Severity.INFO, "is applied"),
    Stand.REFUSED: (Type.TECHNIQUE_REFUSED, Severity.WARNING, "was refused"),
}


def event(setting: TechniqueSetting, found: Status, now_ms: int) -> Event | None:
    if found.stand not in _TOLD:
        return None
    kind, severity, verb = _TOLD[found.stand]
    known = registry().techniques.get(setting.technique)
    title = known.title if known else setting.technique
    return Event(
        type=kind,
        job=setting.job_id,
        kind=setting.technique,
        severity=severity,
        title=f"{title} {verb}",
        explanation=found.because or f"The job says that it holds what {setting.by} asked for.",
        # A refusal begins now; "applied" is the end of what began when it was asked for.
        onset_ms=setting.changed_ms if kind == Type.TECHNIQUE_APPLIED else now_ms,
        end_ms=now_ms if kind == Type.TECHNIQUE_APPLIED else None,
        evidence={"mode": str(setting.mode), "asked_by": setting.by, "options": setting.options},
        link=f"/jobs/{quote(setting.job_id, safe='')}",
    )

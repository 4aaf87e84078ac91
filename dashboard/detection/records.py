"""Converts incidents to database rows and back, so that a new worker knows which are open."""

from dataclasses import asdict
from typing import Any

from dashboard.models import Incident as Record
from techniques.detection.finding import Finding
from techniques.detection.incidents import Incident
from techniques.model import Advice, Evidence

MOST_SPANS = 50


def opened(job_id: str, incident: Incident) -> Record | None:
    """Creates the row; None if it is open already, because the previous worker reported it."""
    if _open(job_id, incident).exists():
        continued(job_id, incident)
        return None
    return Record.objects.create(job_id=job_id, kind=incident.latest.kind, **_fields(incident))


def continued(job_id: str, incident: Incident) -> None:
    _open(job_id, incident).update(**_fields(incident))


def ended(job_id: str, incident: Incident) -> list[Record]:
    """Ends the open rows and returns them; a row that a person resolved is left as it is."""
    found = list(_open(job_id, incident))
    _open(job_id, incident).update(
        **_fields(incident), state=Record.State.RESOLVED, end_ms=incident.end_ms
    )
    return found


def known(job_id: str) -> list[Incident]:
    rows = Record.objects.filter(job_id=job_id).exclude(state=Record.State.RESOLVED)
    return [_incident(row) for row in rows]


def _open(job_id: str, incident: Incident) -> Any:
    return Record.objects.filter(job_id=job_id, evidence__key=_key(incident.latest)).exclude(
        state=Record.State.RESOLVED
    )


def _key(finding: Finding) -> str:
    """The incident's key as text: findings with the same key are the same incident."""
    operators = ",".join(map(str, finding.operators))
    return f"{finding.kind}/{operators}/{','.join(finding.executors)}"


def _fields(incident: Incident) -> dict[str, Any]:
    finding = incident.latest
    return {
        "title": finding.title[:200],
        "severity": incident.severity,
        "onset_ms": incident.onset_ms,
        "occurrences": incident.occurrences,
        "next_expected_ms": finding.next_expected_ms,
        "explanation": finding.explanation,
        "technique": finding.technique or "",
        "evidence": {
            "key": _key(finding),
            "facts": [asdict(each) for each in finding.evidence],
            "p_value": finding.p_value,
            "added_ms": round(finding.added_ms, 1),
            "worst_added_ms": round(incident.worst_added_ms, 1),
            "period_ms": finding.period_ms,
            "operators": list(finding.operators),
            "executors": list(finding.executors),
            "spans_ms": [list(span) for span in finding.spans_ms[-MOST_SPANS:]],
            "table": [dict(row) for row in finding.table],
            "first": finding.first and asdict(finding.first),
        },
    }


def _incident(row: Record) -> Incident:
    told: dict[str, Any] = row.evidence
    # Rows written by an earlier version do not have it.
    first = told.get("first")
    spans = tuple((int(start), int(end)) for start, end in told["spans_ms"])
    finding = Finding(
        kind=row.kind,
        title=row.title,
        spans_ms=spans,
        p_value=told["p_value"],
        added_ms=told["added_ms"],
        explanation=row.explanation,
        evidence=tuple(Evidence(**each) for each in told["facts"]),
        operators=tuple(told["operators"]),
        executors=tuple(told["executors"]),
        period_ms=told["period_ms"],
        technique=row.technique or None,
        first=Advice(**first) if first else None,
        table=tuple(told["table"]),
    )
    return Incident(
        latest=finding,
        onset_ms=row.onset_ms,
        last_start_ms=spans[-1][0],
        end_ms=spans[-1][1],
        occurrences=row.occurrences,
        worst_added_ms=told["worst_added_ms"],
    )

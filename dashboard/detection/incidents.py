"""Incidents as the API shows them: queries, and acknowledging or resolving one."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from dashboard.accounts import audit
from dashboard.alerts import outbox
from dashboard.alerts.events import Event, Severity, Type
from dashboard.models import Incident

HOUR_MS = 3_600_000
State = Incident.State


class NotOpen(Exception):
    """The incident is resolved already, or another user has just changed it."""

    def __init__(self, incident: Incident) -> None:
        super().__init__()
        self.incident = incident


def as_dict(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.pk,
        "job": incident.job_id,
        "kind": incident.kind,
        "title": incident.title,
        "state": incident.state,
        "severity": incident.severity,
        "onset_ms": incident.onset_ms,
        "end_ms": incident.end_ms,
        "occurrences": incident.occurrences,
        "next_expected_ms": incident.next_expected_ms,
        "explanation": incident.explanation,
        "technique": incident.technique or None,
        "first": incident.evidence.get("first"),
        "evidence": incident.evidence,
        "acknowledged_by": incident.acknowledged_by,
        "acknowledged_ms": incident.acknowledged_ms,
    }


def overlapping(job_id: str, start_ms: int, end_ms: int) -> QuerySet[Incident]:
    """The incidents of a job that overlap the range, oldest first."""
    return _since(Incident.objects.filter(job_id=job_id, onset_ms__lt=end_ms), start_ms).order_by(
        "onset_ms", "id"
    )


def found(state: str = "", job_id: str = "", kind: str = "") -> QuerySet[Incident]:
    """The incidents that match all given filters, newest first."""
    wanted = {"state": state, "job_id": job_id, "kind": kind}
    return Incident.objects.filter(**{name: value for name, value in wanted.items() if value})


def tally(now_ms: int) -> dict[str, tuple[int, int]]:
    """Per job that has any: how many incidents are open, and how many overlap the last hour."""
    lately = Q(end_ms__isnull=True) | Q(end_ms__gte=now_ms - HOUR_MS)
    counts = (
        Incident.objects.filter(Q(state=State.OPEN) | lately)
        .order_by()
        .values_list("job_id")
        .annotate(
            open_now=Count("id", filter=Q(state=State.OPEN)),
            last_hour=Count("id", filter=lately),
        )
    )
    return {job_id: (open_now, last_hour) for job_id, open_now, last_hour in counts}


@transaction.atomic
def acknowledge(incident_id: int, who: str, reason: str, now_ms: int) -> Incident:
    """Records that a person has seen it. Raises `Incident.DoesNotExist` or `NotOpen`."""
    incident = Incident.objects.select_for_update().get(pk=incident_id)
    if incident.state != State.OPEN:
        raise NotOpen(incident)
    incident.acknowledged_by, incident.acknowledged_ms = who, now_ms
    _put(incident, State.ACKNOWLEDGED, who, reason)
    return incident


@transaction.atomic
def resolve(incident_id: int, who: str, reason: str, now_ms: int) -> Incident:
    """Ends an incident by hand, before the worker does. Raises the same as `acknowledge`."""
    incident = Incident.objects.select_for_update().get(pk=incident_id)
    if incident.state == State.RESOLVED:
        raise NotOpen(incident)
    incident.end_ms = max(incident.onset_ms, now_ms)
    _put(incident, State.RESOLVED, who, reason)
    outbox.publish(_resolved(incident, who), now_ms)
    return incident


def path(incident_id: int) -> str:
    """The path of the incident's page, for the link in an alert."""
    return f"/incidents/{incident_id}"


def _put(incident: Incident, state: State, who: str, reason: str) -> None:
    before = State(incident.state)
    incident.state = state
    incident.save(update_fields=["state", "end_ms", "acknowledged_by", "acknowledged_ms"])
    audit.record(
        who,
        f"incident.{state.value}",
        f"{incident.kind} #{incident.pk}",
        incident.job_id,
        {"state": before},
        {"state": state},
        reason,
    )


def _resolved(incident: Incident, who: str) -> Event:
    return Event(
        type=Type.INCIDENT_RESOLVED,
        job=incident.job_id,
        kind=incident.kind,
        severity=Severity(incident.severity),
        title=incident.title,
        explanation=f"{who} said that it is over. {incident.explanation}",
        onset_ms=incident.onset_ms,
        end_ms=incident.end_ms,
        incident_id=incident.pk,
        evidence={each["name"]: each["value"] for each in incident.evidence.get("facts", ())},
        link=path(incident.pk),
    )


def _since(incidents: QuerySet[Incident], start_ms: int) -> QuerySet[Incident]:
    return incidents.filter(Q(end_ms__isnull=True) | Q(end_ms__gte=start_ms))

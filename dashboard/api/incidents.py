"""Incidents of a job in a range, of all jobs, or a single one; acknowledging and resolving."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from ninja import Query, Router, Schema
from ninja.errors import HttpError

from dashboard.accounts.roles import caller, operators
from dashboard.api.fields import Reason, RowId
from dashboard.api.paging import Cursor, Limit, newest_first
from dashboard.api.problems import Conflict
from dashboard.api.ranges import Milliseconds, check_job
from dashboard.detection import incidents
from dashboard.fleet import snapshots
from dashboard.models import Incident

router = Router(tags=["incidents"])
of_job = Router(tags=["incidents"])

MOST_OF_A_JOB = 1_000


class AdviceOut(Schema):
    """What to try before any technique: `line` is the line to copy, `price` is what it costs."""

    title: str
    why: str
    line: str
    price: str
    needs_restart: bool = True  # incidents from before it was said


class IncidentOut(Schema):
    id: int
    job: str
    kind: str
    title: str
    state: Literal["open", "acknowledged", "resolved"]
    severity: Literal["info", "warning", "critical"]
    onset_ms: int
    end_ms: int | None
    occurrences: int
    next_expected_ms: int | None
    explanation: str
    technique: str | None
    first: AdviceOut | None
    evidence: dict[str, Any]
    acknowledged_by: str
    acknowledged_ms: int | None


class JobIncidentsOut(Schema):
    """Oldest first; if there are more than a thousand, only the newest thousand."""

    items: list[IncidentOut]
    count: int


class IncidentsOut(Schema):
    """Newest first. `count` is how many match, on all pages."""

    items: list[IncidentOut]
    count: int
    next: str | None


class ReasonIn(Schema):
    reason: Reason = ""


@of_job.get(
    "/{job_id}/incidents", response=JobIncidentsOut, summary="What was wrong with a job in a range"
)
async def job_incidents(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    if end_ms <= start_ms:
        raise HttpError(400, "end_ms must be after start_ms")
    await check_job(job_id)
    found = incidents.overlapping(job_id, start_ms, end_ms)
    newest = [each async for each in found.order_by("-onset_ms", "-id")[:MOST_OF_A_JOB]]
    items = [incidents.as_dict(each) for each in reversed(newest)]
    return {"items": items, "count": await found.acount()}


@router.get("", response=IncidentsOut, summary="What was wrong, anywhere")
def all_incidents(
    request: HttpRequest,
    state: Literal["", "open", "acknowledged", "resolved"] = "",
    job: Annotated[str, Query(max_length=120)] = "",
    kind: Annotated[str, Query(max_length=60)] = "",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    found = incidents.found(state, job, kind)
    page = newest_first(found, cursor or None, limit)
    items = [incidents.as_dict(each) for each in page.items]
    return {"items": items, "count": found.count(), "next": page.next}


@router.get("/{incident_id}", response=IncidentOut, summary="One incident")
def one_incident(request: HttpRequest, incident_id: RowId) -> dict[str, Any]:
    try:
        return incidents.as_dict(Incident.objects.get(pk=incident_id))
    except Incident.DoesNotExist:
        raise _unknown(incident_id) from None


@router.post(
    "/{incident_id}/acknowledge",
    response=IncidentOut,
    auth=operators,
    summary="Say that you have seen it",
)
async def acknowledge(
    request: HttpRequest, incident_id: RowId, payload: ReasonIn
) -> dict[str, Any]:
    return await _put(incidents.acknowledge, request, incident_id, payload)


@router.post(
    "/{incident_id}/resolve",
    response=IncidentOut,
    auth=operators,
    summary="Say that it is over",
)
async def resolve(request: HttpRequest, incident_id: RowId, payload: ReasonIn) -> dict[str, Any]:
    """A new incident opens if the same trouble comes back after it was gone."""
    return await _put(incidents.resolve, request, incident_id, payload)


async def _put(
    change: Callable[[int, str, str, int], Incident],
    request: HttpRequest,
    incident_id: int,
    payload: ReasonIn,
) -> dict[str, Any]:
    who = caller(request).who
    try:
        changed = await sync_to_async(change)(incident_id, who, payload.reason, snapshots.now())
    except Incident.DoesNotExist:
        raise _unknown(incident_id) from None
    except incidents.NotOpen as not_open:
        current = incidents.as_dict(not_open.incident)
        raise Conflict(f"it is {current['state']} already", current) from None
    await snapshots.changed()
    return incidents.as_dict(changed)


def _unknown(incident_id: int) -> HttpError:
    return HttpError(404, f"no incident {incident_id}")

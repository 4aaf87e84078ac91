"""All jobs, one job, and what operators write down about it."""

from typing import Annotated, Any, Literal

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from ninja import Query, Router

from dashboard.accounts.roles import caller, operators
from dashboard.api.fleet_schemas import JobOut, JobsOut, SloIn, SloOut, TagsIn, TagsOut
from dashboard.api.paging import Cursor, Limit, after
from dashboard.api.problems import BadInput, Conflict
from dashboard.api.ranges import unknown_job
from dashboard.fleet import ordering, snapshots, tags
from dashboard.models import Job
from dashboard.slo import objectives
from techniques.slo.objective import Invalid, parse

router = Router(tags=["jobs"])

LONGEST = 200


@router.get("", response=JobsOut, summary="All jobs, the worst first")
async def jobs(
    request: HttpRequest,
    search: Annotated[str, Query(max_length=LONGEST, description="words, all of them")] = "",
    state: Literal["", "running", "stale", "ended", "failed"] = "",
    tag: Annotated[str, Query(max_length=LONGEST)] = "",
    sort: Literal["worst", "name"] = "worst",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    snapshot = await snapshots.the_fleet().snapshot()
    now_ms = snapshots.now()
    found = ordering.matching(snapshot.items(now_ms), search=search, state=state, tag=tag)
    key = ordering.ORDERS[sort]
    page = after(sorted(found, key=key), key, cursor or None, limit)
    return {
        "items": page.items,
        "count": len(found),
        "next": page.next,
        "now_ms": now_ms,
        "store": snapshot.store,
    }


@router.get("/{job_id}", response=JobOut, summary="One job")
async def job(request: HttpRequest, job_id: str) -> dict[str, Any]:
    found = await snapshots.the_fleet().one(job_id, snapshots.now())
    if found is None:
        raise unknown_job(job_id)
    return found


@router.get("/{job_id}/slo", response=SloOut, summary="A job's SLO")
def get_slo(request: HttpRequest, job_id: str) -> dict[str, Any]:
    try:
        return objectives.get(job_id)
    except Job.DoesNotExist:
        raise unknown_job(job_id) from None


@router.put("/{job_id}/slo", response=SloOut, auth=operators, summary="Set a job's SLO, or none")
async def put_slo(request: HttpRequest, job_id: str, payload: SloIn) -> dict[str, Any]:
    """`version` is the version of the SLO that you read, 0 if the job had none."""
    who = caller(request).who
    try:
        objective = None if payload.objective is None else parse(payload.objective)
    except Invalid as fault:
        raise BadInput(f"objective.{fault.field}", fault.message) from None
    try:
        put = await sync_to_async(objectives.put)(
            job_id, objective, payload.version, who, payload.reason
        )
    except Job.DoesNotExist:
        raise unknown_job(job_id) from None
    except objectives.ChangedMeanwhile as changed:
        raise Conflict("somebody else changed this SLO", changed.current) from None
    await snapshots.changed()
    return put


@router.put("/{job_id}/tags", response=TagsOut, auth=operators, summary="Set a job's tags")
async def put_tags(request: HttpRequest, job_id: str, payload: TagsIn) -> dict[str, Any]:
    who = caller(request).who
    try:
        put = await sync_to_async(tags.put)(job_id, payload.tags, who, payload.reason)
    except Job.DoesNotExist:
        raise unknown_job(job_id) from None
    await snapshots.changed()
    return {"tags": put}

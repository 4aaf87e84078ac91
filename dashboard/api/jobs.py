import time
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router
from ninja.errors import HttpError

from collectors import keys
from collectors.metrics import BY_NAME
from dashboard import activities, windows
from dashboard.api.schemas import ActivitiesOut, ExecutorMetricOut, JobOut, JobsOut, WindowsOut
from dashboard.jobs import as_dict, job_list
from dashboard.models import Job
from dashboard.store import the_store

router = Router(tags=["jobs"])

LONGEST_RANGE_MS = 15 * 60 * 1000

Milliseconds = Annotated[int, Query(ge=0, lt=2**53, description="epoch milliseconds")]


@router.get("", response=JobsOut, summary="All jobs")
async def jobs(request: HttpRequest) -> dict[str, Any]:
    now_ms = time.time_ns() // 1_000_000
    items = [as_dict(job, now_ms) for job in await job_list()]
    return {"items": items, "count": len(items), "now_ms": now_ms}


@router.get("/{job_id}", response=JobOut, summary="One job")
async def job(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return as_dict(await _known(job_id), time.time_ns() // 1_000_000)


@router.get("/{job_id}/windows", response=WindowsOut, summary="A job's 50 ms windows in a range")
async def job_windows(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await _check(job_id, start_ms, end_ms)
    frames, unreadable = windows.read(
        await the_store().entries(keys.frames(job_id), start_ms, end_ms)
    )
    return windows.columns(job_id, frames, unreadable)


@router.get("/{job_id}/activities", response=ActivitiesOut, summary="What ran in a range")
async def job_activities(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await _check(job_id, start_ms, end_ms)
    until_ms = end_ms + activities.LONGEST_MS
    entries = await the_store().entries(keys.activities(job_id), start_ms, until_ms)
    found, unreadable = activities.read(entries)
    inside = activities.overlapping(found, start_ms, end_ms)
    return {"job": job_id, "items": activities.rows(inside), "unreadable": unreadable}


@router.get(
    "/{job_id}/executors/{metric}", response=ExecutorMetricOut, summary="A metric per executor"
)
async def executor_metric(
    request: HttpRequest, job_id: str, metric: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await _check(job_id, start_ms, end_ms)
    if metric not in BY_NAME:
        raise HttpError(404, f"no metric {metric}; there are {', '.join(sorted(BY_NAME))}")
    frames, _ = windows.read(await the_store().entries(keys.frames(job_id), start_ms, end_ms))
    return windows.executor_metric(job_id, BY_NAME[metric], frames)


async def _check(job_id: str, start_ms: int, end_ms: int) -> None:
    if not 0 < end_ms - start_ms <= LONGEST_RANGE_MS:
        raise HttpError(400, "end_ms must be after start_ms, by at most 15 minutes")
    await _known(job_id)


async def _known(job_id: str) -> Job:
    try:
        return await Job.objects.prefetch_related("runs").aget(pk=job_id)
    except Job.DoesNotExist:
        raise HttpError(404, f"no job {job_id}") from None

"""What a job did, window by window."""

import asyncio
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest
from ninja import Router
from ninja.errors import HttpError

from collectors.formats import keys
from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import EXECUTORS, Only
from dashboard.api.ranges import Milliseconds, check
from dashboard.api.schemas import ActivitiesOut, ExecutorMetricOut, WindowsOut
from dashboard.series import activities, windows
from dashboard.store import Entry, past

router = Router(tags=["jobs"])


@router.get("/{job_id}/windows", response=WindowsOut, summary="A job's 50 ms windows in a range")
async def job_windows(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await check(job_id, start_ms, end_ms)
    kept = await past.entries(keys.frames(job_id), start_ms, end_ms)
    # A quarter of an hour takes a second or more; in a thread it does not stop live pages.
    columns = await asyncio.to_thread(_columns, job_id, kept.entries)
    return {**columns, "incomplete": kept.incomplete}


def _columns(job_id: str, entries: Iterable[Entry]) -> dict[str, Any]:
    frames, unreadable = windows.read(entries)
    return windows.columns(job_id, frames, unreadable)


@router.get("/{job_id}/activities", response=ActivitiesOut, summary="What ran in a range")
async def job_activities(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await check(job_id, start_ms, end_ms)
    until_ms = end_ms + activities.LONGEST_MS
    kept = await past.entries(keys.activities(job_id), start_ms, until_ms)
    found, unreadable = activities.read(kept.entries)
    inside = activities.overlapping(found, start_ms, end_ms)
    return {
        "job": job_id,
        "items": activities.rows(inside),
        "unreadable": unreadable,
        "incomplete": kept.incomplete,
    }


@router.get(
    "/{job_id}/executors/{metric}", response=ExecutorMetricOut, summary="A metric per executor"
)
async def executor_metric(
    request: HttpRequest, job_id: str, metric: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    await check(job_id, start_ms, end_ms)
    if metric not in BY_NAME:
        raise HttpError(404, f"no metric {metric}; there are {', '.join(sorted(BY_NAME))}")
    kept = await past.entries(keys.frames(job_id), start_ms, end_ms)
    only = Only(frozenset((EXECUTORS,)), frozenset((BY_NAME[metric].id,)))
    frames, _ = await asyncio.to_thread(windows.read, kept.entries, only)
    columns = windows.executor_metric(job_id, BY_NAME[metric], frames)
    return {**columns, "incomplete": kept.incomplete}

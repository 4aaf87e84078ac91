"""The job and the time range that most operations about a job take."""

from typing import Annotated

from ninja import Query
from ninja.errors import HttpError

from dashboard.models import Job

LONGEST_RANGE_MS = 15 * 60 * 1000
# In steps of an hour: ten thousand rows.
LONGEST_HISTORY_MS = 400 * 24 * 3600 * 1000

Milliseconds = Annotated[int, Query(ge=0, lt=2**53, description="epoch milliseconds")]


async def check(job_id: str, start_ms: int, end_ms: int) -> None:
    if not 0 < end_ms - start_ms <= LONGEST_RANGE_MS:
        raise HttpError(400, "end_ms must be after start_ms, by at most 15 minutes")
    await check_job(job_id)


async def check_history(job_id: str, start_ms: int, end_ms: int) -> None:
    if not 0 < end_ms - start_ms <= LONGEST_HISTORY_MS:
        raise HttpError(400, "end_ms must be after start_ms, by at most 400 days")
    await check_job(job_id)


async def check_job(job_id: str) -> None:
    if not await Job.objects.filter(pk=job_id).aexists():
        raise unknown_job(job_id)


def unknown_job(job_id: str) -> HttpError:
    return HttpError(404, f"no job {job_id}")

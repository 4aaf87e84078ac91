"""What a job did over hours to months, in steps of a second, a minute or an hour."""

import asyncio
import time
from typing import Any

from django.http import HttpRequest
from ninja import Router

from dashboard.api.ranges import Milliseconds, check_history
from dashboard.api.schemas import HistoryOut
from dashboard.series import steps
from dashboard.store.rolled_past import rolled

router = Router(tags=["jobs"])


@router.get("/{job_id}/history", response=HistoryOut, summary="A job over hours to months")
async def job_history(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> dict[str, Any]:
    """In the coarsest steps of which the range has 500, so that a month is as quick as an hour;
    ranges below 15 minutes have their 50 ms windows at `/windows`."""
    await check_history(job_id, start_ms, end_ms)
    chosen = steps.chosen(start_ms, end_ms)
    found = await rolled(job_id, chosen)
    now_ms = int(time.time() * 1000)
    columns = await asyncio.to_thread(steps.columns, job_id, chosen, found.rows, now_ms)
    return {**columns, "incomplete": found.incomplete}

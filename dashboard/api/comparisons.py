"""Two archived ranges compared: before and after a release, or one job and another."""

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema

from dashboard.api.ranges import Milliseconds, check_history
from dashboard.api.schemas import INCOMPLETE
from dashboard.history.analysis.comparison import Range, shifts
from dashboard.store import past
from techniques.analysis.compare import Shift

router = Router(tags=["jobs"])


class ShiftOut(Schema):
    """A percentile (µs) before and after, and after / before with its 95 % interval, which is null
    if a range has less than half an hour of records. It shifted if the interval is clear of 1."""

    quantile: str
    before: float
    after: float
    ratio: float
    low: float | None
    high: float | None
    shifted: bool


class ComparisonOut(Schema):
    """Empty if one of the ranges has no archived records."""

    shifts: list[ShiftOut]
    incomplete: str | None = INCOMPLETE


@router.get(
    "/{job_id}/comparison", response=ComparisonOut, summary="How percentiles shifted between ranges"
)
async def comparison(
    request: HttpRequest,
    job_id: str,
    start_ms: Milliseconds,
    end_ms: Milliseconds,
    before_start_ms: Milliseconds,
    before_end_ms: Milliseconds,
    before_job: Annotated[str, Query(max_length=130, description="the same job if empty")] = "",
) -> dict[str, Any]:
    """Compares [start_ms, end_ms) with the range *before*, of this or of another job."""
    before = Range(before_job or job_id, before_start_ms, before_end_ms)
    after = Range(job_id, start_ms, end_ms)
    for each in (before, after):
        await check_history(each.job_id, each.start_ms, each.end_ms)
    nothing: tuple[Shift, ...] = ()
    found, incomplete = await past.asked(partial(shifts, before=before, after=after), nothing)
    told = [{**asdict(each), "shifted": each.shifted} for each in found]
    return {"shifts": told, "incomplete": incomplete}

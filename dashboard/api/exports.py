"""A whole range of a job: its latency distribution, and its windows as CSV."""

import re
from collections.abc import AsyncIterator
from typing import Any, Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Schema

from collectors.formats import keys
from collectors.formats.wire import Frame
from dashboard.api.problems import BadInput
from dashboard.api.ranges import Milliseconds, check
from dashboard.api.schemas import INCOMPLETE
from dashboard.series import distribution, windows
from dashboard.series.export import Shape, lines
from dashboard.store import past

router = Router(tags=["jobs"])

# Ranges are read in pieces: one is in memory at a time, and other requests run in between.
PIECE_MS = 30_000

_UNFIT_FOR_A_FILE = re.compile(r"[^A-Za-z0-9._-]+")


class DistributionOut(Schema):
    """Over all records of the range. `cdf`: pairs of ms and the share that took no longer."""

    source: Literal["record", "batch", "none"]
    count: int
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float | None
    cdf: list[list[float]]
    incomplete: str | None = INCOMPLETE


@router.get(
    "/{job_id}/distribution", response=DistributionOut, summary="How a range's latencies are spread"
)
async def job_distribution(
    request: HttpRequest,
    job_id: str,
    start_ms: Milliseconds,
    end_ms: Milliseconds,
    which: str = "processed",
) -> dict[str, Any]:
    if which not in distribution.MOMENTS:
        raise BadInput("which", f"not one of {', '.join(distribution.MOMENTS)}")
    await check(job_id, start_ms, end_ms)
    spread = distribution.Spread(which)
    incomplete = None
    async for frames, why in _pieces(job_id, start_ms, end_ms):
        spread.add(frames)
        incomplete = why
    return {**spread.shown(), "incomplete": incomplete}


@router.get(
    "/{job_id}/windows.csv",
    summary="A job's windows as a table",
    openapi_extra={
        "responses": {
            200: {"description": "OK", "content": {"text/csv": {"schema": {"type": "string"}}}}
        }
    },
)
async def windows_csv(
    request: HttpRequest, job_id: str, start_ms: Milliseconds, end_ms: Milliseconds
) -> StreamingHttpResponse:
    """CSV with a header, one row per 50 ms window that was received; names include the units.

    If windows may be missing because the archive could not be asked, the header
    `Curtail-Incomplete` says why."""
    await check(job_id, start_ms, end_ms)
    shape = Shape()
    incomplete = None
    async for frames, why in _pieces(job_id, start_ms, end_ms):
        shape = shape.widened(frames)
        incomplete = why

    async def body() -> AsyncIterator[bytes]:
        yield lines([shape.names()])
        async for frames, _ in _pieces(job_id, start_ms, min(end_ms, shape.end_ms)):
            yield lines(shape.rows(frames))

    name = _UNFIT_FOR_A_FILE.sub("_", f"{job_id}_{start_ms}_{end_ms}")
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    if incomplete:
        headers["Curtail-Incomplete"] = incomplete.replace("\n", " ")
    return StreamingHttpResponse(body(), content_type="text/csv; charset=utf-8", headers=headers)


async def _pieces(
    job_id: str, start_ms: int, end_ms: int
) -> AsyncIterator[tuple[list[Frame], str | None]]:
    """Frames of the range piece by piece, and why there may be more, if so."""
    async for kept in past.pieces(keys.frames(job_id), start_ms, end_ms, PIECE_MS):
        frames, _ = windows.read(kept.entries)
        if frames or kept.incomplete:
            yield frames, kept.incomplete

"""What Prometheus scrapes."""

import asyncio
import gzip
import time
from collections.abc import Mapping, Sequence

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import resolve, reverse
from django.utils.cache import patch_vary_headers
from ninja import Router

from collectors.formats import keys
from collectors.formats.announcement import Announcement
from collectors.formats.keys import Stream
from collectors.formats.wire import Frame
from dashboard.prometheus import CONTENT_TYPE, exposition, runs
from dashboard.series import windows
from dashboard.store import Entry, the_store

router = Router(tags=["metrics"])

SECOND_MS = 1_000


@router.get("", summary="All jobs, as Prometheus reads them", url_name="metrics")
async def scrape(request: HttpRequest) -> HttpResponse:
    announced = await the_store().announcements()
    now_ms = time.time_ns() // 1_000_000
    running = [keys.frames(each.job_id) for each in announced if runs(each, now_ms)]
    newest = await the_store().newest(running)
    # What changes slowly is in the frame of each whole second, by the clock of the job's driver.
    seconds = {stream: entry.at_ms // SECOND_MS * SECOND_MS for stream, entry in newest.items()}
    slow = await the_store().at(seconds)
    zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    # With hundreds of jobs this takes a while: pages and WebSockets must not wait for it.
    body = await asyncio.to_thread(_body, announced, newest, slow, now_ms, zipped)
    response = HttpResponse(body, content_type=CONTENT_TYPE)
    patch_vary_headers(response, ["Accept-Encoding"])
    if zipped:
        response["Content-Encoding"] = "gzip"
    return response


@login_not_required
async def scrape_at_root(request: HttpRequest) -> HttpResponse:
    """/metrics is where Prometheus looks unless told otherwise; the API asks for the login."""
    response: HttpResponse = await resolve(reverse("api:metrics")).func(request)
    return response


def _body(
    announced: Sequence[Announcement],
    newest: Mapping[Stream, Entry],
    slow: Mapping[Stream, Entry],
    now_ms: int,
    zipped: bool,
) -> bytes:
    body = exposition(announced, _frames(newest), _frames(slow), now_ms)
    return gzip.compress(body, compresslevel=1) if zipped else body


def _frames(entries: Mapping[Stream, Entry]) -> dict[str, Frame]:
    """The frames by job; one that cannot be read is left out."""
    read = {stream.job_id: windows.read([entry])[0] for stream, entry in entries.items()}
    return {job_id: found[0] for job_id, found in read.items() if found}

"""Streams in a real Redis for tests of the archiver, and what the archive has of them."""

from collections.abc import Iterable
from typing import Any

from redis import Redis

from collectors.formats import keys, wire
from collectors.formats.keys import Entry, Stream, activities, frames
from collectors.formats.wire import WINDOW_MS
from dashboard.history.archive import Archive, Place
from tests.factories import START_MS, frame

FOR_EVER_MS = 1 << 53


def fill(url: str, job_ids: Iterable[str], windows: int, first: int = 0) -> None:
    """Sends windows `first`… of each job, and an activity with every third."""
    client = Redis.from_url(url)
    for job_id in job_ids:
        pipeline = client.pipeline(transaction=False)
        pipeline.zadd(keys.JOBS, {job_id: START_MS})
        for at in range(first, first + windows):
            at_ms = START_MS + WINDOW_MS * at
            payload = wire.encode(frame(at, (20, 30 + at % 7)))
            pipeline.xadd(frames(job_id).key, {keys.PAYLOAD: payload}, id=f"{at_ms}-0")
            if at % 3 == 0:
                ended = {keys.PAYLOAD: b"activity %d" % at}
                pipeline.xadd(activities(job_id).key, ended, id=f"{at_ms}-0")  # type: ignore[arg-type]
        pipeline.execute()


def in_redis(url: str, stream: Stream) -> list[Entry]:
    read: Any = Redis.from_url(url).xrange(stream.key)
    return [Entry(int(at.split(b"-")[0]), fields[keys.PAYLOAD]) for at, fields in read]


def assert_archived_once(url: str, place: Place, job_ids: Iterable[str]) -> None:
    """Every entry of Redis is in the archive, once, byte for byte, and in the roll-ups."""
    archive = Archive(place)
    for job_id in job_ids:
        for stream in (frames(job_id), activities(job_id)):
            assert archive.entries(stream, 0, FOR_EVER_MS) == in_redis(url, stream), stream
        windows = len(in_redis(url, frames(job_id)))
        seconds = archive.read_columns(job_id, 1_000, 0, FOR_EVER_MS)
        assert len(set(seconds["at_ms"].to_pylist())) == len(seconds)
        assert sum(seconds["windows"].to_pylist()) == windows
        hours = archive.read_columns(job_id, 3_600_000, 0, FOR_EVER_MS)
        assert sum(hours["windows"].to_pylist()) == windows

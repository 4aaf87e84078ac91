"""What arrived in Redis of a job, decoded."""

from collections.abc import Callable
from typing import Any

from redis import Redis

from collectors.formats import keys
from collectors.formats.buckets import Histogram, merged
from collectors.formats.wire import Frame, decode
from dashboard.testing.stack import RedisServer
from tests.waiting import until


def arrived(server: RedisServer, job_id: str) -> list[Frame]:
    client = Redis.from_url(server.url)
    entries: Any = client.xrange(keys.frames(job_id).key)
    return [decode(fields[keys.PAYLOAD]) for _, fields in entries]


def arrived_when(
    server: RedisServer, job_id: str, enough: Callable[[list[Frame]], bool], timeout_s: float = 60
) -> list[Frame]:
    """The job's frames as soon as there are enough of them."""

    def look() -> list[Frame]:
        frames = arrived(server, job_id)
        return frames if frames and enough(frames) else []

    return until(look, timeout_s)


def latency(frames: list[Frame]) -> Histogram:
    return merged(frame.latency for frame in frames)


def committed(frames: list[Frame]) -> Histogram:
    return merged(frame.committed for frame in frames)

"""Names in Redis, for the collector that writes and the dashboard that reads.

    curtail:jobs                    sorted set: job id → last heartbeat, epoch ms
    curtail:job:<id>                hash: what the job says of itself
                                    (`collectors.formats.announcement`)
    curtail:job:<id>:frames         stream: one entry per 50 ms window (`collectors.formats.wire`)
    curtail:job:<id>:activities     stream: what ended, per window in which we heard of it
                                    (`collectors.formats.activity`)
    curtail:job:<id>:control        string: what is asked of the job (`collectors.formats.control`)
    curtail:job:<id>:archived       string: epoch ms up to which the archive has both streams; it
                                    expires unless an archiver renews it (`dashboard.history`)

The id of a stream's entry is its window's start in epoch ms, "-0": time ranges are id ranges, and
sending an entry twice adds it once. Its one field is PAYLOAD.
"""

import re
from enum import StrEnum
from typing import NamedTuple

JOBS = "curtail:jobs"
PAYLOAD = b"p"

_UNFIT = re.compile(r"[^a-z0-9_]+")


class Kind(StrEnum):
    FRAMES = "frames"
    ACTIVITIES = "activities"


class Stream(NamedTuple):
    job_id: str
    kind: Kind

    @property
    def key(self) -> str:
        return f"{job(self.job_id)}:{self.kind}"


class Entry(NamedTuple):
    """One entry of a stream, not decoded: readers count the entries that they cannot decode."""

    at_ms: int
    payload: bytes


def job(job_id: str) -> str:
    return f"curtail:job:{job_id}"


def frames(job_id: str) -> Stream:
    return Stream(job_id, Kind.FRAMES)


def activities(job_id: str) -> Stream:
    return Stream(job_id, Kind.ACTIVITIES)


def control(job_id: str) -> str:
    return f"{job(job_id)}:control"


def archived(job_id: str) -> str:
    return f"{job(job_id)}:archived"


def job_id(application: str, query: str) -> str:
    """`traffic-jam.ranking`: stable across restarts, fit for a URL and a key."""
    return f"{_slug(application)}.{_slug(query)}"


def _slug(name: str) -> str:
    return _UNFIT.sub("-", name.lower()).strip("-")[:60] or "unnamed"

"""Names in Redis, for the collector that writes and the dashboard that reads.

curtail:jobs                 sorted set: job id → last heartbeat, epoch ms
curtail:job:<id>             hash: what the job says of itself (`collectors.announcement`)
curtail:job:<id>:frames      stream: one entry per frame; the entry's id is the window's start
                             in epoch ms, "-0", so time ranges are id ranges and sending an
                             entry twice adds it once; its one field is "f", `collectors.wire`
"""

import re

JOBS = "curtail:jobs"
FRAME_FIELD = b"f"

_UNFIT = re.compile(r"[^a-z0-9_]+")


def job(job_id: str) -> str:
    return f"curtail:job:{job_id}"


def frames(job_id: str) -> str:
    return f"curtail:job:{job_id}:frames"


def job_id(application: str, query: str) -> str:
    """`traffic-jam.ranking`: stable across restarts, fit for a URL and a key."""
    return f"{_slug(application)}.{_slug(query)}"


def _slug(name: str) -> str:
    return _UNFIT.sub("-", name.lower()).strip("-")[:60] or "unnamed"

"""What one task of the archiver does: a round for its jobs, with connections of its own."""

from collections.abc import Sequence
from functools import partial

from dashboard.history.archive import Archive, Place
from dashboard.history.rollups import roll_up
from dashboard.history.round import Round
from dashboard.history.streams import RedisStreams
from dashboard.history.told import Told


def archive_group(redis_url: str, place: Place, job_ids: Sequence[str]) -> Told:
    archive = Archive(place)
    streams = RedisStreams(redis_url)
    try:
        return Round(streams, archive, partial(roll_up, archive)).run(job_ids)
    finally:
        streams.close()


def grouped(job_ids: Sequence[str], groups: int) -> list[list[str]]:
    """Deals the jobs out to at most `groups` groups of equal size."""
    dealt = sorted(job_ids)
    return [dealt[at::groups] for at in range(min(groups, len(dealt)))]

"""Which jobs are this worker's: every job belongs to one worker at a time.

Jobs are divided into SHARDS by a hash of their id. A worker leases its fair share of the shards in
the store for LASTING_MS and renews the leases every round. The leases of a dead worker expire; a
new worker gets its share when the others renew theirs.

By this process's clock a lease ends no later than by the store's, because it counts from before the
request was sent. So if `holds` is true the worker has the job, unless the store lost its data; for
that case, and for a process that is suspended during a write, writers also lock the job's row.
"""

import os
import socket
import time
import uuid
import zlib
from collections.abc import Callable
from functools import cache

from dashboard.store import Store

SHARDS = 128
LASTING_MS = 5_000
# A long round renews on the way, with enough time left for a slow answer of the store.
SHORT_S = 3.5


def shard(job_id: str) -> int:
    """The job's shard, the same in every process, which Python's `hash` would not be."""
    return zlib.crc32(job_id.encode()) % SHARDS


class Leases:
    def __init__(
        self,
        owner: str,
        lasting_ms: int = LASTING_MS,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._owner = owner
        self._lasting_ms = lasting_ms
        self._clock_s = clock_s
        self._since: dict[int, int] = {}
        self._until_s = 0.0

    async def renew(self, store: Store) -> None:
        asked_s = self._clock_s()
        self._since = dict(await store.hold(self._owner, SHARDS, self._lasting_ms))
        self._until_s = asked_s + self._lasting_ms / 1000

    @property
    def is_short(self) -> bool:
        """Whether it is time to renew."""
        return self._until_s - self._clock_s() < min(SHORT_S, 0.7 * self._lasting_ms / 1000)

    async def let_go(self, store: Store) -> None:
        self._since = {}
        await store.let_go(self._owner)

    def holds(self, job_id: str) -> bool:
        return self.since(job_id) is not None

    def since(self, job_id: str) -> int | None:
        """When this worker's present lease of the job began, None if it has none. State from an
        earlier lease is out of date: another worker may have had the job in between."""
        if self._clock_s() >= self._until_s:
            return None
        return self._since.get(shard(job_id))


def owner_name() -> str:
    """A name for the leases of this process that no other process ever has."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


@cache
def the_leases() -> Leases:
    """The leases of this process, created by its first tick: with Celery, after the fork."""
    return Leases(owner_name())

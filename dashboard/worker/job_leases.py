"""Which jobs are this worker's: every job belongs to one worker at a time.

Jobs fall into SHARDS by their name. A worker takes its fair share of the shards in the store, for
LASTING_MS, and renews that every round; what a worker that died held is free when its time is up,
and a worker that comes gets its share at the next renewal of the others.

By this process's clock a lease ends no later than by the store's: it counts from before the
question was asked. So whoever finds `holds` true has it, unless the store forgot everything; for
that, and for a process that stands still in mid-write, writers also lock the job's row.
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
# Whoever works through many jobs renews on the way, with enough left for a slow answer.
SHORT_S = 3.5


def shard(job_id: str) -> int:
    """The same in every process: Python's own hash is not."""
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
        """It is time to renew."""
        return self._until_s - self._clock_s() < min(SHORT_S, 0.7 * self._lasting_ms / 1000)

    async def let_go(self, store: Store) -> None:
        self._since = {}
        await store.let_go(self._owner)

    def holds(self, job_id: str) -> bool:
        return self.since(job_id) is not None

    def since(self, job_id: str) -> int | None:
        """When this tenure of the job began, None where it is not ours now. What is remembered
        from another tenure is out of date: somebody else may have had the job in between."""
        if self._clock_s() >= self._until_s:
            return None
        return self._since.get(shard(job_id))


@cache
def the_leases() -> Leases:
    """Of this process; made by its first tick, which with Celery comes after the fork."""
    return Leases(f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}")

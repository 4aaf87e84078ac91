"""All jobs as the API and the live list show them.

The jobs come from the database, their numbers from what they announce in Redis: one pipeline for
all of them, cached for a second, so that a hundred pages cost as much as one. Without Redis the
list comes without its numbers. A job's state is computed for each request and not cached: it
depends on the present time, and a job that has fallen silent must never look healthy.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async

from dashboard.fleet import job_list, jobs
from dashboard.fleet.cache import Cached
from dashboard.fleet.job_list import ListedJob
from dashboard.fleet.job_summary import Told, as_dict, told
from dashboard.store import Store, StoreUnavailable, the_store

log = logging.getLogger(__name__)

KEPT_S = 1.0
# The list of jobs treats a slower store as away. Long enough for a host that is short of cores.
PATIENCE_S = 3.0

Announced = Mapping[str, Told]


@dataclass(frozen=True)
class Snapshot:
    members: Sequence[ListedJob]
    # None: the store is away.
    announced: Announced | None

    @property
    def store(self) -> str:
        return "away" if self.announced is None else "ok"

    def items(self, now_ms: int) -> list[dict[str, Any]]:
        announced = self.announced or {}
        return [as_dict(each, announced.get(each.job.id), now_ms) for each in self.members]


class Fleet:
    """The list of jobs of one event loop, which in a server is one process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._announced = Cached(self._read_store, KEPT_S)
        self._snapshot = Cached(self._read, KEPT_S)
        self._said = "ok"

    async def snapshot(self) -> Snapshot:
        return await self._snapshot.get()

    async def one(self, job_id: str, now_ms: int) -> dict[str, Any] | None:
        """Reads one job fresh from the database, for a request that has just changed it."""
        found = await database_sync_to_async(job_list.read)(now_ms, job_id)
        if not found:
            return None
        announced = await self._announced.get() or {}
        return as_dict(found[0], announced.get(job_id), now_ms)

    def forget(self) -> None:
        """Drops the cached answers after a change: later requests must see it."""
        self._announced.forget()
        self._snapshot.forget()

    async def _read(self) -> Snapshot:
        read = database_sync_to_async(job_list.read)
        found, announced = await asyncio.gather(read(now()), self._announced.get())
        return Snapshot(found, announced)

    async def _read_store(self) -> Announced | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                announcements = await self._store.announcements()
                looked_ms = await self._store.looked()
                failures = await self._store.failing()
        except (StoreUnavailable, TimeoutError) as error:
            self._say("away", str(error) or "no answer in time")
            return None
        self._say("ok", "it answers again")
        # Thousands of numbers to round: in a thread, so that other pages are served meanwhile.
        return await asyncio.to_thread(told, announcements, looked_ms, failures)

    def _say(self, store: str, why: str) -> None:
        if store != self._said:
            log.warning("the store of the list of jobs is %s: %s", store, why)
        self._said = store


_fleets: WeakKeyDictionary[asyncio.AbstractEventLoop, Fleet] = WeakKeyDictionary()


def the_fleet() -> Fleet:
    loop = asyncio.get_running_loop()
    if loop not in _fleets:
        _fleets[loop] = Fleet(the_store())
    return _fleets[loop]


async def changed() -> None:
    """Makes pages of all server processes show a change immediately."""
    the_fleet().forget()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await jobs.tell_pages()
    except Exception as error:
        # The change is made; pages see it with their next look.
        log.warning("pages could not be told of a change: %s", error)


def now() -> int:
    return time.time_ns() // 1_000_000

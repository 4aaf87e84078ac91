"""The live list of jobs: read once per process, and sent as the same text to all browsers.

Each reading ("look") has a number. A browser that has the previous one gets the changes since, any
other gets everything: a slow browser skips some, and nothing waits for it.
"""

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer

from dashboard.fleet.jobs import JOBS_GROUP
from dashboard.fleet.snapshots import Fleet, now, the_fleet

log = logging.getLogger(__name__)

EVERY_S = 2.0
# Changes within this time are sent together.
AT_MOST_EVERY_S = 0.2
RETRY_S = 2.0

Item = dict[str, Any]


def difference(before: dict[str, Item], after: dict[str, Item]) -> tuple[list[Item], list[str]]:
    """Returns the changed jobs (the id and the fields that differ) and the ids of those gone."""
    changed: list[Item] = []
    for job_id, item in after.items():
        held = before.get(job_id, {})
        fields = {name: value for name, value in item.items() if held.get(name, ...) != value}
        if fields:
            changed.append({"id": job_id, **fields})
    return changed, [job_id for job_id in before if job_id not in after]


class JobFeed:
    def __init__(self, fleet: Fleet, every_s: float = EVERY_S) -> None:
        self._fleet = fleet
        self._every_s = every_s
        self._items: dict[str, Item] = {}
        self._look = 0
        self._full: str | None = None
        self._changes = ""
        self._about: Item = {}
        self._looked = asyncio.Condition()
        self._hurry = asyncio.Event()
        self._watching = 0
        self._tasks: list[asyncio.Task[None]] = []
        self.looks = 0

    @property
    def busy(self) -> bool:
        return any(not task.done() for task in self._tasks)

    def join(self) -> None:
        self._watching += 1
        if not self._tasks:
            self._tasks = [asyncio.create_task(run()) for run in (self._run, self._listen)]

    def leave(self) -> None:
        self._watching -= 1
        if not self._watching:
            for task in self._tasks:
                task.cancel()
            # Start again at 0: no browser has seen what is sent next.
            self._tasks, self._items, self._look = [], {}, 0

    async def next(self, seen: int) -> tuple[int, str]:
        """Waits for a look newer than `seen` (0: none) and returns its number and text."""
        async with self._looked:
            await self._looked.wait_for(lambda: self._look > seen)
            if seen and seen == self._look - 1:
                return self._look, self._changes
            if self._full is None:
                items = list(self._items.values())
                self._full = json.dumps(
                    {"type": "jobs", "full": True, "items": items, "gone": [], **self._about}
                )
            return self._look, self._full

    async def _run(self) -> None:
        while True:
            try:
                await self._take_a_look()
            except Exception:
                # One failed look must not end the live list of every page.
                log.exception("the live list stumbled")
            await asyncio.sleep(AT_MOST_EVERY_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_s - AT_MOST_EVERY_S):
                    await self._hurry.wait()
            if self._hurry.is_set():
                self._hurry.clear()
                self._fleet.forget()

    async def _take_a_look(self) -> None:
        snapshot = await self._fleet.snapshot()
        now_ms = now()
        items = {item["id"]: item for item in snapshot.items(now_ms)}
        changed, gone = difference(self._items, items)
        about = {"now_ms": now_ms, "store": snapshot.store}
        changes = {"type": "jobs", "full": False, "items": changed, "gone": gone, **about}
        async with self._looked:
            self._items, self._about = items, about
            self._changes, self._full = json.dumps(changes), None
            self._look += 1
            self.looks += 1
            self._looked.notify_all()

    async def _listen(self) -> None:
        """Listens once per process and not per browser: pages must survive an outage of Redis."""
        layer = get_channel_layer()
        assert layer is not None  # settings.CHANNEL_LAYERS has a default
        hears = True
        while True:
            try:
                channel = await layer.new_channel()
                await layer.group_add(JOBS_GROUP, channel)
                hears = True
                try:
                    while True:
                        await layer.receive(channel)
                        self._hurry.set()
                finally:
                    with suppress(Exception):
                        await layer.group_discard(JOBS_GROUP, channel)
            except Exception as error:
                if hears:
                    log.warning("the live list is told of no changes for now: %s", error)
                hears = False
                await asyncio.sleep(RETRY_S)


_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, JobFeed] = WeakKeyDictionary()


def job_feed() -> JobFeed:
    loop = asyncio.get_running_loop()
    if loop not in _feeds:
        _feeds[loop] = JobFeed(the_fleet())
    return _feeds[loop]

"""Reads each watched job's stream once per server process and fans it out in numbered batches.

A browser that cannot keep up loses batches, not the others their pace: each subscriber has a small
queue, and when it is full it is emptied and the browser is told how many it missed.
"""

import asyncio
import json
import logging
from collections import deque
from dataclasses import dataclass, field

from dashboard import windows
from dashboard.store import FrameStore, StoreUnavailable

log = logging.getLogger(__name__)

BATCH_EVERY_S = 0.2
WAIT_MS = 1_000
RETRY_S = 0.5
QUEUED_BATCHES = 25


class Subscription:
    """One browser's view of one job."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self._waiting: deque[str] = deque()
        self._skipped = 0
        self._news = asyncio.Event()

    def offer(self, text: str) -> None:
        if len(self._waiting) == QUEUED_BATCHES:
            self._skipped += len(self._waiting)
            self._waiting.clear()
        self._waiting.append(text)
        self._news.set()

    async def next(self) -> str:
        while not self._waiting:
            self._news.clear()
            await self._news.wait()
        if self._skipped:
            skipped, self._skipped = self._skipped, 0
            return json.dumps({"type": "behind", "skipped": skipped})
        return self._waiting.popleft()


@dataclass
class _Watched:
    after_ms: int
    seq: int = 0
    subscriptions: set[Subscription] = field(default_factory=set)


class Hub:
    def __init__(self, store: FrameStore) -> None:
        self._store = store
        self._watched: dict[str, _Watched] = {}
        self._task: asyncio.Task[None] | None = None
        self.reads = 0

    async def subscribe(self, job_id: str) -> Subscription:
        """From the newest frame on; what is older the browser fetches over REST."""
        newest_ms = await self._newest_ms(job_id)
        watched = self._watched.setdefault(job_id, _Watched(after_ms=newest_ms))
        subscription = Subscription(watched.seq)
        watched.subscriptions.add(subscription)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return subscription

    def unsubscribe(self, job_id: str, subscription: Subscription) -> None:
        watched = self._watched.get(job_id)
        if watched is None:
            return
        watched.subscriptions.discard(subscription)
        if not watched.subscriptions:
            del self._watched[job_id]

    async def _newest_ms(self, job_id: str) -> int:
        # Asked only by the first to watch a job: the others join where the reading is.
        if job_id in self._watched:
            return self._watched[job_id].after_ms
        try:
            return await self._store.newest_ms(job_id)
        except StoreUnavailable:
            return -1

    async def _run(self) -> None:
        while self._watched:
            try:
                await self._read_once()
            except StoreUnavailable as error:
                log.warning("the live feed waits for the store: %s", error)
                await asyncio.sleep(RETRY_S)
            except Exception:
                # One broken batch must not end the feed of every page.
                log.exception("the live feed stumbled")
                await asyncio.sleep(RETRY_S)
            else:
                await asyncio.sleep(BATCH_EVERY_S)

    async def _read_once(self) -> None:
        after_ms = {job_id: watched.after_ms for job_id, watched in self._watched.items()}
        news = await self._store.follow(after_ms, WAIT_MS)
        self.reads += 1
        for job_id, stored in news.items():
            # Everybody may have left while we waited.
            if stored and (watched := self._watched.get(job_id)):
                watched.after_ms = stored[-1].start_ms
                watched.seq += 1
                frames, unreadable = windows.read(stored)
                batch = windows.columns(job_id, frames, unreadable)
                text = json.dumps({"type": "windows", "seq": watched.seq, **batch})
                for subscription in watched.subscriptions:
                    subscription.offer(text)

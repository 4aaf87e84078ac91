"""Reads each watched job's stream once per server process and fans it out in numbered batches.

A browser that cannot keep up loses batches and does not slow down the others: each subscriber has
a small queue; when it is full it is emptied, and the browser is told how many batches it missed.

Technique cards are pushed the same way whenever they change: if two hundred browsers polled for
them, that would cost the server more than all windows.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from collectors.formats import keys
from collectors.formats.keys import Stream
from dashboard.live import asked_rows
from dashboard.series import activities, windows
from dashboard.store import Entry, Store, StoreUnavailable

log = logging.getLogger(__name__)

BATCH_EVERY_S = 0.2
WAIT_MS = 1_000
RETRY_S = 0.5
QUEUED_BATCHES = 25
CARDS_EVERY_S = 2.0

CardsText = Callable[[Store, str], Awaitable[str]]


class Subscription:
    """One browser's view of one job."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self._cards = ""
        self._waiting: deque[str] = deque()
        self._skipped = 0
        self._news = asyncio.Event()

    def offer(self, text: str) -> None:
        if len(self._waiting) == QUEUED_BATCHES:
            self._skipped += len(self._waiting)
            self._waiting.clear()
            self._cards = ""  # a dropped message may have held the cards
        self._waiting.append(text)
        self._news.set()

    def offer_cards(self, text: str) -> None:
        """Queues the cards unless the browser has the same already."""
        if text != self._cards:
            self.offer(text)
            self._cards = text

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
    after_ms: dict[Stream, int]
    seq: int = 0
    unreadable: int = 0
    subscriptions: set[Subscription] = field(default_factory=set)


class Hub:
    def __init__(self, store: Store, cards: CardsText | None = None) -> None:
        self._store = store
        self._cards = cards
        self._watched: dict[str, _Watched] = {}
        self._task: asyncio.Task[None] | None = None
        self._cards_task: asyncio.Task[None] | None = None
        self.reads = 0

    async def subscribe(self, job_id: str) -> Subscription:
        """Streams from the newest frame on; the browser fetches older ones over REST."""
        if job_id not in self._watched:
            # Only the first subscriber of a job sets where to start; later ones join there.
            newest_ms = await self._newest_ms(job_id)
            self._watched.setdefault(job_id, _Watched(newest_ms))
        watched = self._watched[job_id]
        subscription = Subscription(watched.seq)
        watched.subscriptions.add(subscription)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        # A separate task, because windows must not wait for the database.
        if self._cards and (self._cards_task is None or self._cards_task.done()):
            self._cards_task = asyncio.create_task(self._tell_cards(self._cards))
        return subscription

    def unsubscribe(self, job_id: str, subscription: Subscription) -> None:
        watched = self._watched.get(job_id)
        if watched is None:
            return
        watched.subscriptions.discard(subscription)
        if not watched.subscriptions:
            del self._watched[job_id]

    async def _newest_ms(self, job_id: str) -> dict[Stream, int]:
        streams = (keys.frames(job_id), keys.activities(job_id))
        try:
            return {stream: await self._store.newest_ms(stream) for stream in streams}
        except StoreUnavailable:
            return dict.fromkeys(streams, -1)

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

    async def _tell_cards(self, text_of: CardsText) -> None:
        while self._watched:
            for job_id, watched in list(self._watched.items()):
                try:
                    text = await text_of(self._store, job_id)
                except Exception:
                    # Pages that get no cards request them over REST.
                    log.exception("the cards of %s cannot be told", job_id)
                    continue
                for subscription in watched.subscriptions:
                    subscription.offer_cards(text)
            await asyncio.sleep(CARDS_EVERY_S)

    async def _read_once(self) -> None:
        after_ms = {stream: ms for w in self._watched.values() for stream, ms in w.after_ms.items()}
        news = await self._store.follow(after_ms, WAIT_MS)
        self.reads += 1
        for job_id in {stream.job_id for stream in news}:
            # All subscribers may have left while we waited.
            if watched := self._watched.get(job_id):
                self._fan_out(job_id, watched, news)

    @staticmethod
    def _fan_out(job_id: str, watched: _Watched, news: Mapping[Stream, Sequence[Entry]]) -> None:
        for stream in watched.after_ms:
            if entries := news.get(stream):
                watched.after_ms[stream] = entries[-1].at_ms
        frames, bad_frames = windows.read(news.get(keys.frames(job_id), ()))
        ended, bad_activities = activities.read(news.get(keys.activities(job_id), ()))
        watched.seq += 1
        watched.unreadable += bad_frames + bad_activities
        batch = windows.columns(job_id, frames, watched.unreadable)
        message = {
            "type": "windows",
            "seq": watched.seq,
            **batch,
            "activities": activities.rows(ended),
        }
        # Only frames report the state of techniques; a batch may hold activities alone.
        if frames:
            message["asked"] = asked_rows.row(frames[-1].asked)
        text = json.dumps(message)
        for subscription in watched.subscriptions:
            subscription.offer(text)

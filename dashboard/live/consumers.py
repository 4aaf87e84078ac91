"""WebSockets: `/ws/jobs/<id>` streams one job's windows, `/ws/jobs` the list of jobs."""

import asyncio
import json
import time

from channels.generic.websocket import AsyncWebsocketConsumer

from dashboard.live.hub import Subscription
from dashboard.live.hubs import hub
from dashboard.live.jobfeed import JobFeed, job_feed
from dashboard.live.logins import NOT_LOGGED_IN, end_with_the_login, is_logged_in
from dashboard.models import Job

UNKNOWN_JOB = 4404


class JobConsumer(AsyncWebsocketConsumer):
    """One job's windows, as `GET /api/v1/jobs/<id>/windows` has them, and what ended meanwhile:

        {"type": "windows", "seq": 7, …, "activities": […], "asked": …}

    `asked` is what the newest window says of techniques, null as long as nothing was asked:

        {"version": 3, "settled": true,
         "techniques": {name: {"mode": …, "state": …, "version": …, "because": …}}}

    A card is applied as soon as this says so (`dashboard.steering.status`). All cards, as
    `GET /api/v1/jobs/<id>/techniques` has them, come at first and whenever one has changed:

        {"type": "cards", "items": […]}
    """

    # No channel layer: the hub feeds this one, and a page must outlive a Redis that goes away.
    channel_layer_alias = "none"
    subscription: Subscription | None = None
    sender: asyncio.Task[None] | None = None
    watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        # Accept before closing with a code: a browser sees no code of a refused handshake.
        await self.accept()
        if not is_logged_in(self):
            await self.close(NOT_LOGGED_IN)
            return
        self.job_id: str = self.scope["url_route"]["kwargs"]["job_id"]
        if not await Job.objects.filter(pk=self.job_id).aexists():
            await self.close(UNKNOWN_JOB)
            return
        self.subscription = await hub().subscribe(self.job_id)
        hello = {
            "type": "hello",
            "seq": self.subscription.seq,
            "now_ms": time.time_ns() // 1_000_000,
        }
        await self.send(json.dumps(hello))
        self.sender = asyncio.create_task(self._send_batches(self.subscription))
        self.watch = asyncio.create_task(end_with_the_login(self))

    async def disconnect(self, code: int) -> None:
        for task in (self.sender, self.watch):
            if task:
                task.cancel()
        if self.subscription:
            hub().unsubscribe(self.job_id, self.subscription)

    async def _send_batches(self, subscription: Subscription) -> None:
        while True:
            await self.send(await subscription.next())


class JobsConsumer(AsyncWebsocketConsumer):
    """The list of jobs: whole at first, and every two seconds what changed since.

        {"type": "jobs", "full": true, "items": [Job …], "gone": [], "now_ms": …, "store": …}
        {"type": "jobs", "full": false, "items": [{"id": …, changed fields} …], "gone": [id …], …}

    A Job is what `GET /api/v1/jobs` lists. Of a job that changed come its id and those of its
    fields that differ, each whole; of a new one come all. `gone` are jobs that are listed no more.
    `store` is "ok", or "away" while Redis does not answer and numbers are missing. A message comes
    every two seconds even when nothing changed, and at once when a job starts or ends or somebody
    changes something about it. A browser that cannot keep up skips some and gets `full` again.
    """

    # No channel layer: the feed listens for all, and a page must outlive a Redis that goes away.
    channel_layer_alias = "none"
    sender: asyncio.Task[None] | None = None
    watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        if not is_logged_in(self):
            await self.close(NOT_LOGGED_IN)
            return
        feed = job_feed()
        feed.join()
        self.sender = asyncio.create_task(self._send_looks(feed))
        self.watch = asyncio.create_task(end_with_the_login(self))

    async def disconnect(self, code: int) -> None:
        if self.watch:
            self.watch.cancel()
        if self.sender:
            self.sender.cancel()
            job_feed().leave()

    async def _send_looks(self, feed: JobFeed) -> None:
        seen = 0
        while True:
            seen, text = await feed.next(seen)
            await self.send(text)

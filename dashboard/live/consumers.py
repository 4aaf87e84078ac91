"""WebSockets: `/ws/jobs/<id>` streams one job's windows, `/ws/jobs` the list of jobs."""

import asyncio
import json
import time
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer

from dashboard.jobs import JOBS_GROUP, as_dict, job_list
from dashboard.live.hub import Subscription
from dashboard.live.hubs import hub
from dashboard.live.logins import NOT_LOGGED_IN, end_with_the_login, is_logged_in
from dashboard.models import Job

UNKNOWN_JOB = 4404


class JobConsumer(AsyncWebsocketConsumer):
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
    watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        if not is_logged_in(self):
            await self.close(NOT_LOGGED_IN)
            return
        await self.channel_layer.group_add(JOBS_GROUP, self.channel_name)
        await self.jobs_changed({})
        self.watch = asyncio.create_task(end_with_the_login(self))

    async def disconnect(self, code: int) -> None:
        if self.watch:
            self.watch.cancel()
        await self.channel_layer.group_discard(JOBS_GROUP, self.channel_name)

    async def jobs_changed(self, _event: dict[str, Any]) -> None:
        now_ms = time.time_ns() // 1_000_000
        jobs = [as_dict(job, now_ms) for job in await job_list()]
        await self.send(json.dumps({"type": "jobs", "items": jobs, "now_ms": now_ms}))

"""Somebody who asks something of a running job, and reads in its frames what became of it."""

import time
from collections.abc import Callable

from redis import Redis

from collectors.formats import control, keys
from collectors.formats.asked import Applied
from collectors.formats.control import Control, Wanted
from collectors.formats.wire import Frame
from dashboard.testing.stack import RedisServer
from tests.collectors.frames import arrived
from tests.waiting import until


class Operator:
    """Writes control documents as the server does."""

    def __init__(self, server: RedisServer, job_id: str) -> None:
        self._server = server
        self._job_id = job_id
        self._redis = Redis.from_url(server.url)

    def ask(self, version: int, **techniques: Wanted) -> None:
        now_ms = time.time_ns() // 1_000_000
        document = Control(version, now_ms, techniques)
        self._redis.set(keys.control(self._job_id), control.encode(document))

    def newest(self) -> Frame:
        return arrived(self._server, self._job_id)[-1]

    def states(self) -> list[Applied]:
        asked = self.newest().asked
        return list(asked.techniques) if asked else []

    def all_let_go(self, version: int) -> bool:
        asked = self.newest().asked
        return asked is not None and asked.version >= version and asked.settled


def held_until(check: Callable[[], bool], renew: Callable[[], None]) -> None:
    """`check` holds in the end, while the server renews as it does every second."""

    def renewed() -> bool:
        renew()
        return check()

    until(renewed, timeout_s=60)

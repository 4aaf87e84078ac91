"""Takes the deliveries that are due, sends them in threads and records the results.

The worker's tick never waits for a receiver, because the same worker also steers jobs.
"""

import functools
import logging
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import connections

from dashboard.alerts import leases, signing
from dashboard.alerts.events import Event, Notice
from dashboard.alerts.formats import Format, encoded
from dashboard.alerts.leases import Taken
from dashboard.alerts.sender import Answer, Sender

log = logging.getLogger(__name__)

# Longer than an attempt can take, with room for a database that is slow to answer.
LEASE_MS = 30_000
MOST_AT_ONCE = 16


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Courier:
    def __init__(
        self,
        sender: Sender,
        *,
        lease_ms: int = LEASE_MS,
        most_at_once: int = MOST_AT_ONCE,
        clock_ms: Callable[[], int] = _now_ms,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._sender = sender
        self._lease_ms = lease_ms
        self._most = most_at_once
        self._clock_ms = clock_ms
        self._random = random
        self._pool = ThreadPoolExecutor(most_at_once, thread_name_prefix="courier")
        self._lock = threading.Lock()
        self._busy = 0

    def round(self) -> None:
        """Starts as many due deliveries as threads are free; other workers may take the rest."""
        with self._lock:
            free = self._most - self._busy
        if free <= 0:
            return
        for taken in self.take(free):
            with self._lock:
                self._busy += 1
            self._pool.submit(self._serve_in_thread, taken)

    def take(self, most: int, only: int | None = None) -> list[Taken]:
        return leases.take(self._clock_ms(), self._lease_ms, most, only)

    def serve(self, taken: Taken) -> None:
        """Sends this message and then all others due for its endpoint, one after the other."""
        following = [taken]
        while following:
            self._carry(following[0])
            following = self.take(1, only=taken.endpoint_id)

    def _serve_in_thread(self, taken: Taken) -> None:
        try:
            self.serve(taken)
        except Exception:
            # The lease expires, and then a worker tries again.
            log.exception("a delivery to endpoint %d was interrupted", taken.endpoint_id)
        finally:
            connections.close_all()
            with self._lock:
                self._busy -= 1

    def _carry(self, taken: Taken) -> None:
        started_ms = self._clock_ms()
        answer = self._sent(taken, started_ms)
        leases.settle(taken, answer, started_ms, self._clock_ms(), self._random)

    def _sent(self, taken: Taken, now_ms: int) -> Answer:
        try:
            event = Event.of(taken.event)
            notice = Notice(taken.webhook_id, event, settings.PUBLIC_URL, taken.routing_key)
            body = encoded(Format(taken.format), notice)
            headers = signing.headers(taken.webhook_id, now_ms // 1000, body, taken.secrets)
            return self._sender.post(taken.url, headers, body)
        except Exception:
            # For instance a row written by another version: count it as a failed attempt instead of
            # crashing again and again.
            log.exception("%s cannot be sent", taken.webhook_id)
            return Answer(None, "it cannot be sent; the worker's log says why", "", None, 0)


@functools.cache
def the_courier() -> Courier:
    """The courier of this process, created by its first tick: with Celery, after the fork."""
    return Courier(Sender(settings.WEBHOOK_ALLOWED_NETWORKS))

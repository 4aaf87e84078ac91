"""Sends to Redis for the collector: a bounded buffer, oldest dropped first, and a sending thread.

`ship` and `announce` never wait and never raise an error of Redis. While Redis is unreachable the
last minute of frames is kept; older ones are dropped and counted, and sending resumes by itself. An
entry's id is its window, so a batch that is sent again after a lost reply adds nothing twice.

Redis keeps an hour of each stream, and what is older only while an archiver has yet to store it:
four hours at most, whatever becomes of the archiver (`trim_ms`).
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import redis
from redis.exceptions import RedisError, ResponseError

from collectors.formats import keys
from collectors.formats.announcement import Announcement, to_hash
from collectors.formats.keys import Stream
from collectors.formats.wire import WINDOW_MS

log = logging.getLogger("curtail.shipper")

# One minute of one job; an application of many queries shares it.
BUFFERED_ENTRIES = 60_000 // WINDOW_MS
AT_ONCE = 200
RETRY_S = 1.0
TIMEOUT_S = 2.0
CONTROL_EVERY_S = 0.2
RETENTION_MS = 3_600_000
# How many times the retention Redis keeps for an archiver that is late.
LATE_ARCHIVE = 4


@dataclass(frozen=True)
class _Entry:
    stream: Stream
    at_ms: int
    payload: bytes
    holds: int


class Shipper:
    """`hear` gets every watched job's control document, read along with what is sent."""

    def __init__(
        self,
        url: str,
        retention_ms: int = RETENTION_MS,
        hear: Callable[[str, bytes], None] = lambda _job_id, _document: None,
    ) -> None:
        self._hear = hear
        self._watched: frozenset[str] = frozenset()
        self._control_read_s = 0.0
        self._redis = redis.Redis.from_url(
            url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S
        )
        self._retention_ms = retention_ms
        # Of the jobs that were watched: None where no archiver says how far it is.
        self._archived_ms: dict[str, int | None] = {}
        self._waiting: deque[_Entry] = deque()
        self._announcements: dict[str, Announcement] = {}
        self._changed = threading.Condition()
        self._stopping = False
        self._reachable = True
        self._dropped = 0
        self._shipped: dict[Stream, int] = {}
        self._thread = threading.Thread(target=self._run, name="curtail-shipper", daemon=True)

    @property
    def dropped(self) -> int:
        return self._dropped

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def shipped(self, stream: Stream) -> int:
        """Returns how many frames or activities of this stream Redis has acknowledged."""
        return self._shipped.get(stream, 0)

    def start(self) -> None:
        self._thread.start()

    def ship(self, stream: Stream, at_ms: int, payload: bytes, holds: int = 1) -> None:
        """Queues an entry; `holds` is the number of frames or activities in its payload."""
        with self._changed:
            if len(self._waiting) >= BUFFERED_ENTRIES:
                self._waiting.popleft()
                self._dropped += 1
            self._waiting.append(_Entry(stream, at_ms, payload, holds))
            self._changed.notify()

    def announce(self, announcement: Announcement) -> None:
        """Queues an announcement; it replaces an unsent one of the same job."""
        with self._changed:
            self._announcements[announcement.job_id] = announcement
            self._changed.notify()

    def watch(self, job_id: str) -> None:
        # Until the key was read, an archiver may be late: a job that starts anew trims nothing
        # that the archiver of its last run has yet to store.
        self._archived_ms.setdefault(job_id, 0)
        self._watched |= {job_id}

    def unwatch(self, job_id: str) -> None:
        self._watched -= {job_id}

    def stop(self, timeout_s: float) -> None:
        """Sends as much of what is queued as the timeout allows, then stops."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._waiting or self._announcements or self._stopping):
                    self._changed.wait()
                if self._stopping and not (self._waiting or self._announcements):
                    return
                entries = list(islice(self._waiting, AT_ONCE))
                announcements = dict(self._announcements)
            try:
                self._send(entries, announcements)
            except (RedisError, OSError) as error:
                self._say(reachable=False, why=error)
                with self._changed:
                    if self._stopping:
                        return
                    self._changed.wait_for(lambda: self._stopping, timeout=RETRY_S)
                continue
            self._say(reachable=True)
            self._forget(entries, announcements)

    def _send(self, entries: list[_Entry], announcements: dict[str, Announcement]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for announcement in announcements.values():
            write_announcement(pipeline, to_hash(announcement))
        for entry in entries:
            archived_ms = self._archived_ms.get(entry.stream.job_id)
            keep_ms = entry.at_ms - trim_ms(entry.at_ms, self._retention_ms, archived_ms)
            write_entry(pipeline, entry.stream, entry.at_ms, entry.payload, keep_ms)
        watched = self._watched_now()
        for job_id in watched:
            pipeline.mget(keys.control(job_id), keys.archived(job_id))
        replies = pipeline.execute(raise_on_error=False)
        for reply in replies[: len(replies) - len(watched)]:
            # Already there from a send whose reply was lost: that is success.
            if isinstance(reply, ResponseError) and "equal or smaller" in str(reply):
                continue
            if isinstance(reply, Exception):
                raise reply
        for job_id, reply in zip(watched, replies[len(replies) - len(watched) :], strict=True):
            if isinstance(reply, list):
                self._take(job_id, *reply)

    def _take(self, job_id: str, document: bytes | None, archived: bytes | None) -> None:
        try:
            self._archived_ms[job_id] = int(archived or b"")
        except ValueError:
            # No archiver has renewed the key, or something else wrote it.
            self._archived_ms[job_id] = None
        if document is not None:
            self._hear(job_id, document)

    def _watched_now(self) -> list[str]:
        now_s = time.monotonic()
        if now_s - self._control_read_s < CONTROL_EVERY_S:
            return []
        self._control_read_s = now_s
        return sorted(self._watched)

    def _forget(self, sent: list[_Entry], announced: dict[str, Announcement]) -> None:
        with self._changed:
            gone = set(map(id, sent))
            # While we sent, `ship` may have dropped some of these from the left; they stay counted
            # as dropped, so that every entry is waiting, dropped or shipped, and never two of them.
            while self._waiting and id(self._waiting[0]) in gone:
                entry = self._waiting.popleft()
                self._shipped[entry.stream] = self._shipped.get(entry.stream, 0) + entry.holds
            for job_id, announcement in announced.items():
                if self._announcements.get(job_id) is announcement:
                    del self._announcements[job_id]

    def _say(self, reachable: bool, why: Exception | None = None) -> None:
        if reachable == self._reachable:
            return
        self._reachable = reachable
        if reachable:
            log.warning("Redis is back; %d frames were dropped so far", self._dropped)
        else:
            log.warning("cannot send to Redis, frames are kept for a minute: %s", why)


def trim_ms(at_ms: int, retention_ms: int, archived_ms: int | None) -> int:
    """Returns the time before which a stream is trimmed when its entry of `at_ms` is added.

    With an archiver, entries older than the retention go only once it has stored them, or at
    LATE_ARCHIVE times the retention."""
    oldest_ms = at_ms - retention_ms
    if archived_ms is None:
        return oldest_ms
    return max(at_ms - LATE_ARCHIVE * retention_ms, min(oldest_ms, archived_ms))


def write_announcement(pipeline: Any, values: Mapping[str, Any]) -> None:
    """Adds the commands to `pipeline`; `values` is the result of `to_hash`."""
    pipeline.hset(keys.job(values["job_id"]), mapping=values)
    pipeline.zadd(keys.JOBS, {values["job_id"]: values["heartbeat_ms"]})


def write_entry(
    pipeline: Any, stream: Stream, at_ms: int, payload: bytes, retention_ms: int
) -> None:
    pipeline.xadd(
        stream.key,
        {keys.PAYLOAD: payload},
        id=f"{at_ms}-0",
        minid=str(at_ms - retention_ms),
        approximate=True,
    )

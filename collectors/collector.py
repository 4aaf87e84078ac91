"""Messages in, frames out: keeps the jobs of one Spark application and closes their windows."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from collectors import activity, keys, parts, progress, tasks, wire
from collectors.announcement import Announcement
from collectors.assembly import Assembler, Running
from collectors.codec import Garbled
from collectors.keys import Stream
from collectors.link import Kind, Message

log = logging.getLogger("curtail.collector")

HEARTBEAT_MS = 1_000
END_REASON_CHARS = 2_000


class Outbox(Protocol):
    """Where frames go; `collectors.shipper.Shipper` in a real application."""

    @property
    def dropped(self) -> int: ...
    def ship(self, stream: Stream, at_ms: int, payload: bytes) -> None: ...
    def announce(self, announcement: Announcement) -> None: ...


@dataclass(frozen=True)
class Application:
    job: str
    application_id: str
    spark_version: str
    driver_host: str


class Collector:
    """`handle` is called by the thread that reads the link, `tick` by the one that keeps time."""

    def __init__(self, outbox: Outbox, now_ms: Callable[[], int]) -> None:
        self._outbox = outbox
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._assembler = Assembler(now_ms())
        self._application = Application("unnamed", "", "", "")
        self._announced: dict[str, Announcement] = {}
        self._heartbeat_ms = 0
        self.unreadable = 0

    def handle(self, message: Message) -> None:
        try:
            with self._lock:
                self._handle(message)
        except (Garbled, ValueError, KeyError, TypeError) as error:
            self.unreadable += 1
            if self.unreadable == 1:
                log.warning(
                    "a message from the probe cannot be read (more are only counted): %s", error
                )

    def tick(self) -> None:
        now_ms = self._now_ms()
        with self._lock:
            closed = self._assembler.close(now_ms, self._outbox.dropped, self.unreadable)
            for job_id, frame, ended in closed:
                at_ms = frame.start_ms
                self._outbox.ship(keys.frames(job_id), at_ms, wire.encode(frame))
                if ended:
                    self._outbox.ship(keys.activities(job_id), at_ms, activity.encode(ended))
            if now_ms - self._heartbeat_ms >= HEARTBEAT_MS:
                self._heartbeat_ms = now_ms
                for announcement in self._announced.values():
                    self._outbox.announce(replace(announcement, heartbeat_ms=now_ms))

    def _handle(self, message: Message) -> None:
        match message.kind:
            case Kind.PART:
                self._assembler.add_part(parts.decode(message.payload), self._now_ms())
            case Kind.QUERY_PROGRESS:
                self._assembler.add_progress(progress.parse(message.payload), self._now_ms())
            case Kind.TASKS:
                self._assembler.add_tasks(tasks.decode_tasks(message.payload))
            case Kind.EXECUTORS:
                self._assembler.add_executor(tasks.decode_executor(message.payload))
            case Kind.TRAFFIC:
                self._assembler.add_traffic(tasks.decode_traffic(message.payload))
            case Kind.HELLO:
                self._application = Application(**json.loads(message.payload))
            case Kind.QUERY_STARTED:
                self._started(json.loads(message.payload))
            case Kind.QUERY_TERMINATED:
                self._terminated(json.loads(message.payload))
            case Kind.LINK_LOSS:
                self._assembler.lost_on_link(int(message.payload))
            case Kind.FOREIGN:
                raise Garbled(f"the driver was sent {message.payload[:200]!r} instead of a part")
            case _:
                raise Garbled(f"a message of kind {message.kind}")

    def _started(self, event: dict[str, Any]) -> None:
        # A query without a name is known by its id, which its checkpoint keeps across restarts.
        query = event["name"] or event["query_id"][:8]
        announcement = Announcement(
            job_id=keys.job_id(self._application.job, query),
            application=self._application.job,
            query=query,
            run_id=event["run_id"],
            application_id=self._application.application_id,
            spark_version=self._application.spark_version,
            driver_host=self._application.driver_host,
            started_ms=event["started_ms"],
            heartbeat_ms=self._now_ms(),
        )
        self._announced[event["query_id"]] = announcement
        self._outbox.announce(announcement)
        self._assembler.start(Running(event["query_id"], event["run_id"], announcement.job_id))

    def _terminated(self, event: dict[str, Any]) -> None:
        announcement = self._announced.get(event["query_id"])
        if announcement and announcement.run_id == event["run_id"]:
            del self._announced[event["query_id"]]
            self._outbox.announce(
                replace(
                    announcement,
                    heartbeat_ms=self._now_ms(),
                    ended_ms=event["ended_ms"],
                    end_reason=event["reason"][:END_REASON_CHARS],
                )
            )
        self._assembler.terminate(event["query_id"], event["run_id"], self._now_ms())

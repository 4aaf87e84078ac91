"""Messages in, frames out: keeps the jobs of one Spark application and closes their windows."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from collectors.formats import activity, keys, parts, wire
from collectors.formats.announcement import Announcement
from collectors.formats.codec import Garbled
from collectors.process import footprint
from collectors.process.agent import Agent, Status
from collectors.process.announcer import Announcer
from collectors.process.assembly import Assembler, Closed, Running
from collectors.process.events import progress, task_messages
from collectors.process.facts import Facts
from collectors.process.link import Message, MessageKind
from collectors.process.outbox import Outbox
from techniques.registry import Registry

log = logging.getLogger("curtail.collector")


@dataclass(frozen=True)
class Application:
    job: str
    application_id: str
    spark_version: str
    driver_host: str


class Collector:
    """`handle` is called by the thread that reads the link, `tick` by the one that keeps time."""

    def __init__(
        self,
        outbox: Outbox,
        now_ms: Callable[[], int],
        techniques: Registry | None = None,
        tell: Callable[[bytes], None] = lambda _edition: None,
        cpu_us: Callable[[], int] = footprint.cpu_us,
        resident_bytes: Callable[[], int | None] = footprint.resident_bytes,
    ) -> None:
        self._outbox = outbox
        self._tell = tell
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._facts = Facts()
        self._assembler = Assembler(now_ms(), self._facts)
        self._application = Application("unnamed", "", "", "")
        self._agent = Agent(techniques or Registry(), self._facts, now_ms())
        self._announcer = Announcer(outbox, cpu_us, resident_bytes)
        self._documents: dict[str, bytes] = {}
        self.unreadable = 0

    def handle(self, message: Message) -> None:
        try:
            with self._lock:
                self._handle(message)
        except (Garbled, ValueError, KeyError, TypeError) as error:
            self._unreadable(error)

    def hear(self, job_id: str, document: bytes) -> None:
        """Takes a job's control document; called by the shipping thread five times a second."""
        if self._documents.get(job_id) == document:
            return
        self._documents[job_id] = document
        try:
            with self._lock:
                self._agent.hear(job_id, document, self._now_ms())
        except Exception as error:
            # Catches everything: the calling thread also ships the frames and must not die.
            self._unreadable(error)

    def tick(self) -> None:
        now_ms = self._now_ms()
        with self._lock:
            edition = self._agent.tell(now_ms)
            for closed in self._assembler.close(now_ms, self._outbox.dropped, self.unreadable):
                self._ship(closed, now_ms)
            self._announcer.tick(now_ms)
            for run_id in self._assembler.over():
                self._announcer.close(run_id, now_ms)
        if edition is not None:
            self._tell(edition)

    def _ship(self, closed: Closed, now_ms: int) -> None:
        job_id, frame, ended = closed
        frame = replace(
            frame,
            collector=self._announcer.load(job_id),
            asked=self._agent.asked(job_id, now_ms),
        )
        self._outbox.ship(keys.frames(job_id), frame.start_ms, wire.encode(frame))
        if ended:
            payload = activity.encode(ended)
            self._outbox.ship(keys.activities(job_id), frame.start_ms, payload, holds=len(ended))
        self._announcer.add(job_id, frame, ended)

    def _handle(self, message: Message) -> None:
        match message.kind:
            case MessageKind.PART:
                self._part(parts.decode(message.payload))
            case MessageKind.QUERY_PROGRESS:
                self._assembler.add_progress(progress.parse(message.payload), self._now_ms())
            case MessageKind.TASKS:
                self._assembler.add_tasks(task_messages.decode_tasks(message.payload))
            case MessageKind.EXECUTORS:
                self._executor(task_messages.decode_executor(message.payload))
            case MessageKind.TRAFFIC:
                self._assembler.add_traffic(task_messages.decode_traffic(message.payload))
            case MessageKind.HELLO:
                self._application = Application(**json.loads(message.payload))
            case MessageKind.QUERY_STARTED:
                self._started(json.loads(message.payload))
            case MessageKind.QUERY_TERMINATED:
                self._terminated(json.loads(message.payload))
            case MessageKind.LINK_LOSS:
                self._assembler.lost_on_link(int(message.payload))
            case MessageKind.FOREIGN:
                raise Garbled(f"the driver was sent {message.payload[:200]!r} instead of a part")
            case _:
                raise Garbled(f"a message of kind {message.kind}")

    def _unreadable(self, error: Exception) -> None:
        self.unreadable += 1
        if self.unreadable == 1:
            log.warning("a message cannot be read (more are only counted): %s", error)

    def _part(self, part: parts.Part) -> None:
        now_ms = self._now_ms()
        self._assembler.add_part(part, now_ms)
        self._agent.saw(part.executor_id, part.host, now_ms)
        self._facts.pools(part.pools)
        for event in part.events:
            if event.source == parts.EventSource.LEVERS:
                self._agent.report(part.executor_id, Status.parse(event.body))

    def _executor(self, change: task_messages.ExecutorChange) -> None:
        self._assembler.add_executor(change)
        if change.leaving:
            self._facts.executor_is_leaving(change.executor_id)
        elif not change.joined:
            self._agent.left(change.executor_id)

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
        job_id, run_id = announcement.job_id, announcement.run_id
        running = Running(event["query_id"], run_id, job_id, event["started_ms"])
        if self._assembler.start(running):
            self._announcer.start(event["query_id"], announcement)
        self._agent.start(job_id, event["query_id"], run_id)
        self._documents.pop(job_id, None)  # a new run hears it afresh
        self._outbox.watch(job_id)

    def _terminated(self, event: dict[str, Any]) -> None:
        now_ms, run_id = self._now_ms(), event["run_id"]
        job_id = self._announcer.end(run_id, event["ended_ms"], event["reason"], now_ms)
        if job_id is not None:
            self._agent.end(job_id, now_ms)
            self._outbox.unwatch(job_id)
            self._documents.pop(job_id, None)
        self._assembler.terminate(event["query_id"], run_id, now_ms)

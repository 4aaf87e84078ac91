"""Messages in, frames out: keeps the jobs of one Spark application and closes their windows."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from collectors.formats import activity, keys, parts, wire
from collectors.formats.announcement import Announcement
from collectors.formats.codec import Garbled
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.keys import Stream
from collectors.process import footprint
from collectors.process.agent import Agent, Status
from collectors.process.assembly import Assembler, Closed, Running
from collectors.process.events import progress, task_messages
from collectors.process.facts import Facts
from collectors.process.link import Kind, Message
from collectors.process.pulse_taker import PulseTaker
from techniques.registry import Registry

log = logging.getLogger("curtail.collector")

HEARTBEAT_MS = 1_000
END_REASON_CHARS = 2_000


class Outbox(Protocol):
    """Where frames go; `collectors.process.shipper.Shipper` in a real application."""

    @property
    def dropped(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    def shipped(self, stream: Stream) -> int: ...
    def ship(self, stream: Stream, at_ms: int, payload: bytes, holds: int = 1) -> None: ...
    def announce(self, announcement: Announcement) -> None: ...
    def watch(self, job_id: str) -> None: ...
    def unwatch(self, job_id: str) -> None: ...


@dataclass(frozen=True)
class Application:
    job: str
    application_id: str
    spark_version: str
    driver_host: str


@dataclass
class _Run:
    """What is said of a job until its next run, or until the last window of this one closed."""

    query_id: str
    announced: Announcement
    taker: PulseTaker = field(default_factory=PulseTaker)


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
        self._cpu_us = cpu_us
        self._resident_bytes = resident_bytes
        self._lock = threading.Lock()
        self._facts = Facts()
        self._assembler = Assembler(now_ms(), self._facts)
        self._application = Application("unnamed", "", "", "")
        self._agent = Agent(techniques or Registry(), self._facts, now_ms())
        self._documents: dict[str, bytes] = {}
        self._runs: dict[str, _Run] = {}
        self._heartbeat_ms = 0
        self._heartbeat_cpu_us = 0
        self._busy_share: float | None = None
        self._resident: int | None = None
        self.unreadable = 0

    def handle(self, message: Message) -> None:
        try:
            with self._lock:
                self._handle(message)
        except (Garbled, ValueError, KeyError, TypeError) as error:
            self._unreadable(error)

    def hear(self, job_id: str, document: bytes) -> None:
        """What Redis holds for this job; called by the thread that ships, five times a second."""
        if self._documents.get(job_id) == document:
            return
        self._documents[job_id] = document
        try:
            with self._lock:
                self._agent.hear(job_id, document, self._now_ms())
        except Exception as error:
            # Whatever it is, the thread that calls this ships the frames and must go on.
            self._unreadable(error)

    def tick(self) -> None:
        now_ms = self._now_ms()
        with self._lock:
            cpu_us = self._cpu_us()
            edition = self._agent.tell(now_ms)
            for closed in self._assembler.close(now_ms, self._outbox.dropped, self.unreadable):
                self._ship(closed, cpu_us, now_ms)
            if now_ms - self._heartbeat_ms >= HEARTBEAT_MS:
                self._beat(now_ms, cpu_us)
            self._let_go(now_ms)
        if edition is not None:
            self._tell(edition)

    def _ship(self, closed: Closed, cpu_us: int, now_ms: int) -> None:
        job_id, frame, ended = closed
        frame = replace(
            frame,
            collector=self._load(job_id, cpu_us),
            asked=self._agent.asked(job_id, now_ms),
        )
        self._outbox.ship(keys.frames(job_id), frame.start_ms, wire.encode(frame))
        if ended:
            payload = activity.encode(ended)
            self._outbox.ship(keys.activities(job_id), frame.start_ms, payload, holds=len(ended))
        run = self._runs.get(job_id)
        if run and run.announced.run_id == str(frame.run_id):
            run.taker.add(frame, committed=frame.committed, ended=ended)

    def _beat(self, now_ms: int, cpu_us: int) -> None:
        if self._heartbeat_ms:
            used_us = cpu_us - self._heartbeat_cpu_us
            self._busy_share = used_us / ((now_ms - self._heartbeat_ms) * 1000)
        self._heartbeat_ms, self._heartbeat_cpu_us = now_ms, cpu_us
        self._resident = self._resident_bytes()
        for run in self._runs.values():
            if not run.announced.ended_ms:
                self._announce(run, now_ms)

    def _let_go(self, now_ms: int) -> None:
        """Of runs that ended, once their last window has closed: their totals are final now."""
        for job_id, run in list(self._runs.items()):
            if run.announced.ended_ms and not self._assembler.knows(run.announced.run_id):
                self._announce(run, now_ms)
                del self._runs[job_id]

    def _announce(self, run: _Run, now_ms: int) -> None:
        load = self._load(run.announced.job_id, self._cpu_us())
        pulse = run.taker.pulse(load, self._busy_share)
        self._outbox.announce(replace(run.announced, heartbeat_ms=now_ms, pulse=pulse))

    def _load(self, job_id: str, cpu_us: int) -> CollectorLoad:
        return CollectorLoad(
            shipped_frames=self._outbox.shipped(keys.frames(job_id)),
            shipped_activities=self._outbox.shipped(keys.activities(job_id)),
            waiting_entries=self._outbox.waiting,
            cpu_us=cpu_us,
            resident_bytes=self._resident,
        )

    def _handle(self, message: Message) -> None:
        match message.kind:
            case Kind.PART:
                self._part(parts.decode(message.payload))
            case Kind.QUERY_PROGRESS:
                self._assembler.add_progress(progress.parse(message.payload), self._now_ms())
            case Kind.TASKS:
                self._assembler.add_tasks(task_messages.decode_tasks(message.payload))
            case Kind.EXECUTORS:
                self._executor(task_messages.decode_executor(message.payload))
            case Kind.TRAFFIC:
                self._assembler.add_traffic(task_messages.decode_traffic(message.payload))
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
            if event.source == parts.Source.LEVERS:
                self._agent.report(part.executor_id, Status.parse(event.body))

    def _executor(self, change: task_messages.ExecutorChange) -> None:
        self._assembler.add_executor(change)
        if not change.joined:
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
        known = self._runs.get(announcement.job_id)
        if not known or known.announced.run_id != announcement.run_id:
            self._runs = {k: r for k, r in self._runs.items() if r.query_id != event["query_id"]}
            known = _Run(event["query_id"], announcement)
            self._runs[announcement.job_id] = known
        self._announce(known, self._now_ms())
        self._assembler.start(
            Running(event["query_id"], event["run_id"], announcement.job_id, event["started_ms"])
        )
        self._agent.start(announcement.job_id, event["query_id"], event["run_id"])
        self._documents.pop(announcement.job_id, None)  # a new run hears it afresh
        self._outbox.watch(announcement.job_id)

    def _forget_control(self, job_id: str) -> None:
        self._agent.end(job_id, self._now_ms())
        self._outbox.unwatch(job_id)
        self._documents.pop(job_id, None)

    def _terminated(self, event: dict[str, Any]) -> None:
        for run in self._runs.values():
            if run.announced.run_id == event["run_id"]:
                self._forget_control(run.announced.job_id)
                run.announced = replace(
                    run.announced,
                    ended_ms=event["ended_ms"],
                    end_reason=event["reason"][:END_REASON_CHARS],
                )
                self._announce(run, self._now_ms())
        self._assembler.terminate(event["query_id"], event["run_id"], self._now_ms())

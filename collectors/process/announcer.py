"""Announces each job every second: its identity, its pulse, and the collector's own load.

A run is announced from its start until its last window has closed, when its totals are final.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from collectors.formats import keys
from collectors.formats.activity import Activity
from collectors.formats.announcement import Announcement
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.wire import Frame
from collectors.process import footprint
from collectors.process.outbox import Outbox
from collectors.process.pulse_taker import PulseTaker

EVERY_MS = 1_000
END_REASON_CHARS = 2_000


@dataclass
class _Run:
    query_id: str
    announced: Announcement
    taker: PulseTaker = field(default_factory=PulseTaker)


class Announcer:
    def __init__(
        self,
        outbox: Outbox,
        cpu_us: Callable[[], int] = footprint.cpu_us,
        resident_bytes: Callable[[], int | None] = footprint.resident_bytes,
    ) -> None:
        self._outbox = outbox
        self._cpu_us = cpu_us
        self._resident_bytes = resident_bytes
        self._runs: dict[str, _Run] = {}
        self._told_ms = 0
        self._told_cpu_us = 0
        self._busy_share: float | None = None
        self._resident: int | None = None

    def start(self, query_id: str, announcement: Announcement) -> None:
        """Announces a new run; it replaces the query's earlier one, which may have another name."""
        self._runs = {job: run for job, run in self._runs.items() if run.query_id != query_id}
        self._runs[announcement.job_id] = run = _Run(query_id, announcement)
        self._announce(run, announcement.heartbeat_ms)

    def end(self, run_id: str, ended_ms: int, reason: str, now_ms: int) -> str | None:
        """Announces the end of a run; returns its job id, or None if the run is not known."""
        for job_id, run in self._runs.items():
            if run.announced.run_id == run_id:
                reason = reason[:END_REASON_CHARS]
                run.announced = replace(run.announced, ended_ms=ended_ms, end_reason=reason)
                self._announce(run, now_ms)
                return job_id
        return None

    def close(self, run_id: str, now_ms: int) -> None:
        """Announces the final totals of a run whose last window has closed, and forgets it."""
        for job_id, run in list(self._runs.items()):
            if run.announced.run_id == run_id:
                self._announce(run, now_ms)
                del self._runs[job_id]

    def add(self, job_id: str, frame: Frame, ended: Iterable[Activity]) -> None:
        run = self._runs.get(job_id)
        if run and run.announced.run_id == str(frame.run_id):
            run.taker.add(frame, committed=frame.committed, ended=ended)

    def tick(self, now_ms: int) -> None:
        if now_ms - self._told_ms < EVERY_MS:
            return
        cpu_us = self._cpu_us()
        if self._told_ms:
            used_us = cpu_us - self._told_cpu_us
            self._busy_share = used_us / ((now_ms - self._told_ms) * 1000)
        self._told_ms, self._told_cpu_us = now_ms, cpu_us
        self._resident = self._resident_bytes()
        for run in self._runs.values():
            if not run.announced.ended_ms:
                self._announce(run, now_ms)

    def load(self, job_id: str) -> CollectorLoad:
        return CollectorLoad(
            shipped_frames=self._outbox.shipped(keys.frames(job_id)),
            shipped_activities=self._outbox.shipped(keys.activities(job_id)),
            waiting_entries=self._outbox.waiting,
            cpu_us=self._cpu_us(),
            resident_bytes=self._resident,
        )

    def _announce(self, run: _Run, now_ms: int) -> None:
        pulse = run.taker.pulse(self.load(run.announced.job_id), self._busy_share)
        self._outbox.announce(replace(run.announced, heartbeat_ms=now_ms, pulse=pulse))

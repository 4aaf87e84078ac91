"""One example job in a process of its own, steered and read through Redis as the server does."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from redis import Redis

from benchmarks.switchback.regimes import Regime
from collectors.formats import activity, control, keys, wire
from collectors.formats.activity import Activity
from collectors.formats.asked import State
from collectors.formats.control import Control, Wanted
from collectors.formats.keys import Stream
from collectors.formats.wire import Batch, Frame
from dashboard.cli import programs
from dashboard.series.history import NEEDS
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from techniques.schema import Settings

TECHNIQUE = "shadowsync"
LEASE_MS = 15_000
RENEW_S = 1.0
POLL_S = 0.1
START_S = 90.0
# No batch takes that long.
STUCK_S = 60.0

READ = wire.Only(NEEDS.sections | {wire.COMMITTED, wire.ASKED}, NEEDS.metrics)


class Stuck(Exception):
    """The job makes no progress; the message has its last output."""


class Refused(Exception):
    """The job refused the settings."""


class Process(Protocol):
    @property
    def lives(self) -> bool: ...

    def said(self) -> str: ...


class Query:
    """Collects the frames and activities of a job. Its `wait` methods also renew the lease."""

    # The parts of a frame that are decoded.
    only: wire.Only | None = READ

    def __init__(self, running: Process, redis_url: str, job_id: str) -> None:
        self._running = running
        self._redis: Any = Redis.from_url(redis_url)
        self._job_id = job_id
        self._after: dict[Stream, bytes] = {}
        self._version = 0
        self._wanted: dict[str, Wanted] = {}
        self._renewed_s = 0.0
        self.frames: list[Frame] = []
        self.activities: list[Activity] = []
        self.batches: list[Batch] = []

    @property
    def last_batch(self) -> int:
        return self.batches[-1].batch_id if self.batches else -1

    def ask(self, settings: Settings | None) -> None:
        """Sends settings to the job; None withdraws the earlier ones."""
        self.ask_for({} if settings is None else {TECHNIQUE: settings})

    def ask_for(self, wanted: Mapping[str, Settings]) -> None:
        """Sends the settings of each technique to the job; all others are off."""
        self._version += 1
        self._wanted = {
            name: Wanted("act", self._version, LEASE_MS, settings)
            for name, settings in wanted.items()
        }
        self._renew()

    def held(self) -> bool:
        """Whether every JVM has applied the last settings. Raises `Refused`."""
        asked = self.frames[-1].asked if self.frames else None
        if asked is None or asked.version != self._version:
            return False
        refused = [each for each in asked.techniques if each.state == State.REFUSED]
        if refused:
            raise Refused(refused[0].because)
        return asked.settled and all(each.state == State.APPLIED for each in asked.techniques)

    def wait(self, condition: Callable[[], bool], patience_s: float) -> bool:
        """Waits for the condition; returns whether it was met in time."""
        deadline_s = time.monotonic() + patience_s
        while not (met := condition()) and time.monotonic() < deadline_s:
            time.sleep(POLL_S)
            self._look()
        return met

    def wait_within(self, condition: Callable[[], bool], batches: int) -> bool:
        """Waits for the condition for at most so many batches; returns whether it was met."""
        last = self.last_batch + batches
        self.wait(lambda: condition() or self.last_batch >= last, STUCK_S)
        return condition()

    def wait_for_batches(self, more: int) -> tuple[int, int]:
        """Waits until `more` batches have ended; returns the first and the last of them."""
        after = self.last_batch
        while self.last_batch < after + more:
            before = self.last_batch
            if not self.wait(lambda before=before: self.last_batch > before, STUCK_S):  # type: ignore[misc]
                raise Stuck(f"no batch after {before} for {STUCK_S:.0f} s:\n{self._running.said()}")
        return after + 1, after + more

    def _look(self) -> None:
        if not self._running.lives:
            raise Stuck(f"the job ended:\n{self._running.said()}")
        if time.monotonic() - self._renewed_s >= RENEW_S:
            self._renew()
        for data in self._news(keys.frames(self._job_id)):
            frame = wire.decode(data, self.only)
            self.frames.append(frame)
            self.batches += frame.batches
        for data in self._news(keys.activities(self._job_id)):
            self.activities += activity.decode(data)

    def _news(self, stream: Stream) -> Iterator[bytes]:
        # Not `(id`: older Redis servers do not understand exclusive ranges.
        for at, fields in self._redis.xrange(stream.key, min=_after(self._after.get(stream))):
            self._after[stream] = at
            yield fields[keys.PAYLOAD]

    def _renew(self) -> None:
        document = Control(self._version, time.time_ns() // 1_000_000, self._wanted)
        self._redis.set(keys.control(self._job_id), control.encode(document))
        self._renewed_s = time.monotonic()


@contextmanager
def started(regime: Regime, redis: RedisServer, folder: Path) -> Iterator[Query]:
    """Yields a running query whose first batches are done; ends it afterwards."""
    env = programs.environ(os.environ, REDIS_URL=redis.url, **programs.same_python())
    program = programs.job(env, regime.example, folder, *regime.words)
    with Running(program) as running:
        query = Query(running, redis.url, keys.job_id(regime.application, regime.query))
        if not query.wait(lambda: query.last_batch >= 0, START_S):
            raise Stuck(f"{regime.example} did not start:\n{running.said()}")
        yield query


def _after(last: bytes | None) -> str:
    if last is None:
        return "-"
    at_ms, _, number = last.decode().partition("-")
    return f"{at_ms}-{int(number) + 1}"

"""The queries of `copied_job.py`, seen and steered through Redis as the server does."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis import Redis

from collectors.formats import activity, control, keys, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.asked import Applied, Asked
from collectors.formats.control import Control, Value, Wanted
from tests.cluster.copied_job import NAME, STAGES
from tests.waiting import until

COPIES, PLACES = "copied", "placed"
# The longest there is. On a busy machine a test may take longer, so it is renewed.
LEASE_MS = 120_000
RENEW_S = 20
PATIENCE_S = 120
ASKED = wire.Only(frozenset({wire.ASKED}), frozenset())


@dataclass(frozen=True)
class Task:
    """An attempt that is over. `kind` is the place of its stage in the batch."""

    kind: int
    stage: int
    partition: int
    executor: str
    start_ms: float
    end_ms: float
    copy: bool
    successful: bool

    @property
    def ms(self) -> float:
        return self.end_ms - self.start_ms


class Steered:
    def __init__(self, redis: "Redis", query: str) -> None:
        self._redis: Any = redis
        self._job = keys.job_id(NAME, query)
        self._version = 0
        self._techniques: dict[str, Wanted] = {}
        self._renewed_s = 0.0

    def ask(self, places: Mapping[int, str] | None = None, **settings: Value) -> Applied:
        """Returns what the driver made of the copies that are asked once it has. With `places`,
        executors by state partition, state is to move there meanwhile."""
        self._version += 1
        asked = {COPIES: Wanted("act", self._version, LEASE_MS, settings)}
        if places is not None:
            wished = {"places": {str(partition): to for partition, to in places.items()}}
            asked[PLACES] = Wanted("act", self._version, LEASE_MS, wished)
        self._send(asked)
        return self.state()

    def off(self) -> None:
        self._version += 1
        self._send({})
        until(lambda: self._asked() is not None, PATIENCE_S)

    def state(self) -> Applied:
        return until(self._said, PATIENCE_S)[0]

    def tasks(self, since_ms: float = 0) -> list[Task]:
        entries = self._redis.xrange(keys.activities(self._job).key, str(int(since_ms)), "+")
        read = (each for _, fields in entries for each in activity.decode(fields[keys.PAYLOAD]))
        return [_task(each) for each in read if each.kind == Kind.TASK]

    def copies(self, since_ms: float = 0) -> list[Task]:
        return [task for task in self.tasks(since_ms) if task.copy]

    def renew(self) -> None:
        if self._version and time.monotonic() - self._renewed_s >= RENEW_S:
            self._send(self._techniques)

    def _send(self, techniques: dict[str, Wanted]) -> None:
        self._techniques, self._renewed_s = techniques, time.monotonic()
        document = Control(self._version, time.time_ns() // 1_000_000, techniques)
        self._redis.set(keys.control(self._job), control.encode(document))

    def _said(self) -> tuple[Applied, ...]:
        asked = self._asked()
        return asked.techniques if asked else ()

    def _asked(self) -> Asked | None:
        """What the newest frame says, once every JVM holds what was asked last."""
        self.renew()
        newest = self._redis.xrevrange(keys.frames(self._job).key, count=1)
        asked = wire.decode(newest[0][1][keys.PAYLOAD], ASKED).asked if newest else None
        return asked if asked and asked.version == self._version and asked.settled else None


def _task(of: Activity) -> Task:
    assert of.task
    assert of.partition is not None
    return Task(
        # All jobs of this application have the same stages, so that Spark's numbers tell the place.
        kind=of.task.stage % STAGES,
        stage=of.task.stage,
        partition=of.partition,
        executor=of.executor_id,
        start_ms=of.start_us / 1000,
        end_ms=of.end_us / 1000,
        copy=of.task.speculative,
        successful=of.task.successful,
    )

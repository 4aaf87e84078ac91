"""The job of `job.py` while it runs: its batches in files, its frames in Redis, its processes."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from collectors import keys
from collectors.wire import WINDOW_MS, Frame, decode
from dashboard.cli import programs, sessions
from dashboard.cli.child import Program
from dashboard.testing.cluster import Cluster
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from tests.cluster import job
from tests.waiting import until

JOB_ID = keys.job_id(job.NAME, job.QUERY)
RECENT_MS = 1_000


@dataclass(frozen=True)
class Watched:
    cluster: Cluster
    redis: RedisServer
    running: Running
    out: Path

    @property
    def client(self) -> "Redis":
        return Redis.from_url(self.redis.url)

    def batches(self) -> dict[str, Any]:
        """What every batch put out, by the name of its file."""
        return {path.name: json.loads(path.read_text()) for path in self.out.glob("batch-*.json")}

    def batches_done(self) -> int:
        return len(list(self.out.glob("batch-*.json")))

    def runs_on(self, batches: int, timeout_s: float = 60) -> None:
        """Returns when so many batches more are done, of a driver that lives."""
        enough = self.batches_done() + batches
        until(lambda: self.batches_done() >= enough or not self.lives(), timeout_s)
        assert self.lives(), self.running.said(60)

    def lives(self) -> bool:
        return self.running.pid in sessions.members(self.running.pid)

    def frames(self, since_ms: float, until_ms: float | None = None) -> list[Frame]:
        last = "+" if until_ms is None else str(int(until_ms))
        try:
            entries: Any = self.client.xrange(keys.frames(JOB_ID).key, str(int(since_ms)), last)
        except RedisError:
            return []
        return [decode(fields[keys.PAYLOAD]) for _, fields in entries]

    def recent(self) -> list[Frame]:
        return self.frames(now_ms() - RECENT_MS)

    def newest(self) -> Frame:
        """The first frame of a window that has not begun yet: what we just did is in it."""
        asked_ms = now_ms() + WINDOW_MS
        return until(lambda: self.frames(asked_ms), timeout_s=30)[0]

    def collector_pid(self) -> int:
        (found,) = (
            pid
            for pid in sessions.members(self.running.pid)
            if b"collectors.main" in Path("/proc", str(pid), "cmdline").read_bytes()
        )
        return found


@contextmanager
def instrumented(
    cluster: Cluster, redis: RedisServer, out: Path, start_ms: int
) -> Iterator[Watched]:
    with Running(_program(cluster, out, start_ms, "--redis", redis.url)) as running:
        watched = Watched(cluster, redis, running, out)
        watched.runs_on(3, timeout_s=120)
        yield watched


def uninstrumented(cluster: Cluster, out: Path, start_ms: int, batches: int) -> Path:
    """The same batches without Curtail, as fast as they go."""
    with Running(_program(cluster, out, start_ms, "--batches", str(batches))) as running:
        assert running.wait(timeout_s=120) == 0, running.said(60)
    return out


def now_ms() -> float:
    return time.time() * 1000


def _program(cluster: Cluster, out: Path, start_ms: int, *words: str) -> Program:
    out.mkdir()
    options = ("--conf", json.dumps(cluster.spark_options), "--start-ms", str(start_ms))
    argv = (sys.executable, "-m", job.__name__, "--out", str(out), *options, *words)
    env = programs.environ(os.environ, **programs.same_python())
    return Program(out.name, argv, env, out / "driver.log")

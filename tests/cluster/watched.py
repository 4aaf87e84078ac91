"""The job of `job.py` while it runs: its batches in files, its frames in Redis, its processes."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS, Frame, decode
from dashboard.cli import programs, sessions
from dashboard.cli.child import Program
from dashboard.testing.cluster import Cluster
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from tests.cluster import job, orders
from tests.waiting import until

JOB_ID = keys.job_id(job.NAME, job.QUERY)
ROWS_JOB_ID = keys.job_id(job.NAME, orders.ROWS_QUERY)
# On a busy machine frames come a second or two after their windows.
RECENT_MS = 3_000
PATIENCE_S = 120


@dataclass(frozen=True)
class Watched:
    cluster: Cluster
    redis: RedisServer
    running: Running
    out: Path

    @cached_property
    def client(self) -> "Redis":
        return Redis.from_url(self.redis.url)

    def batches_done(self) -> int:
        return len(list(self.out.glob("batch-*.json")))

    def runs_on(self, batches: int, timeout_s: float = PATIENCE_S) -> None:
        """Returns when so many batches more are done, of a driver that lives."""
        enough = self.batches_done() + batches
        # Not more often than needed: what looks takes cores from what it looks at.
        until(lambda: self.batches_done() >= enough or not self.running.lives, timeout_s, 0.1)
        assert self.running.lives, self.running.said(60)

    def order(self, name: str, number: int = 0, timeout_s: float = PATIENCE_S) -> Any:
        return orders.ask(self.out, name, number, timeout_s)

    def frames(
        self, since_ms: float = 0, until_ms: float | None = None, job_id: str = JOB_ID
    ) -> list[Frame]:
        last = "+" if until_ms is None else str(int(until_ms))
        try:
            entries: Any = self.client.xrange(keys.frames(job_id).key, str(int(since_ms)), last)
        except RedisError:
            return []
        return [decode(fields[keys.PAYLOAD]) for _, fields in entries]

    def recent(self) -> list[Frame]:
        return self.frames(now_ms() - RECENT_MS)

    def newest(self) -> Frame:
        """The first frame of a window that has not begun yet: what we just did is in it."""
        asked_ms = now_ms() + WINDOW_MS
        return until(lambda: self.frames(asked_ms), PATIENCE_S)[0]

    def collector_pid(self) -> int:
        (found,) = (
            pid
            for pid in sessions.members(self.running.pid)
            if b"collectors.process.main" in Path("/proc", str(pid), "cmdline").read_bytes()
        )
        return found


@contextmanager
def instrumented(
    cluster: Cluster, redis: RedisServer, out: Path, start_ms: int
) -> Iterator[Watched]:
    options = cluster.spark_options
    with Running(_program(options, out, start_ms, "--redis", redis.url)) as running:
        watched = Watched(cluster, redis, running, out)
        watched.runs_on(3, 2 * PATIENCE_S)
        yield watched


def uninstrumented(out: Path, start_ms: int, batches: int) -> dict[int, Any]:
    """What the same batches put out without Curtail, and as fast as they go: without a cluster."""
    options = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "1"}
    with Running(_program(options, out, start_ms, "--batches", str(batches))) as running:
        assert running.wait(2 * PATIENCE_S) == 0, running.said(60)
    return put_out(out)


def put_out(out: Path) -> dict[int, Any]:
    """What every batch put out, by its number."""
    written = {path.stem: json.loads(path.read_text()) for path in out.glob("batch-*.json")}
    return {int(name.removeprefix("batch-")): rows for name, rows in written.items()}


def now_ms() -> float:
    return time.time() * 1000


def _program(conf: dict[str, str], out: Path, start_ms: int, *words: str) -> Program:
    out.mkdir()
    options = ("--conf", json.dumps(conf), "--start-ms", str(start_ms))
    argv = (sys.executable, "-m", job.__name__, "--out", str(out), *options, *words)
    env = programs.environ(os.environ, **programs.same_python())
    return Program(out.name, argv, env, out / "driver.log")

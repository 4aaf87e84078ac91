"""The job of `moved_job.py` while it runs: what its batches put out and where, and its orders."""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redis import Redis

from collectors.formats import control, keys
from collectors.formats.asked import Applied, Asked
from collectors.formats.control import Control, Value, Wanted
from collectors.formats.wire import decode
from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT
from dashboard.testing.cluster import Cluster, host_of
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from tests.cluster import moved_job as job
from tests.cluster.moved_queries import QUERIES
from tests.waiting import until

TECHNIQUE, SIZING = "placed", "sized"
LEASE_MS = 120_000
PATIENCE_S = 240

Places = Mapping[int, str]


class Watched:
    """`running` is the driver of the moment; a later one goes on in the same folder."""

    def __init__(self, cluster: Cluster, redis: RedisServer, out: Path) -> None:
        self.out = out
        self._cluster = cluster
        self._redis_url = redis.url
        self._redis: Any = Redis.from_url(redis.url)
        self._versions = dict.fromkeys(QUERIES, 0)
        self.running = self.start()

    def start(self) -> Running:
        conf = {
            **self._cluster.spark_options,
            "spark.curtail.techniques": f"tests.techniques.{TECHNIQUE},tests.techniques.{SIZING}",
            # Executors start in folders of their own.
            "spark.executorEnv.PYTHONPATH": str(ROOT),
        }
        words = ("--conf", json.dumps(conf), "--redis", self._redis_url)
        self.running = Running(program(self.out, *words))
        return self.running

    def last(self, name: str) -> int:
        return max((int(path.stem[-5:]) for path in self._batches(name)), default=-1)

    def run_on(self, batches: int) -> None:
        """Returns when every query has done so many batches more, of a driver that lives."""
        enough = {name: self.last(name) + batches for name in QUERIES}
        self.until(lambda: all(self.last(name) >= enough[name] for name in QUERIES))

    def until(self, condition: Any, timeout_s: float = PATIENCE_S) -> None:
        # Not more often than needed: what looks takes cores from what it looks at.
        until(lambda: condition() or not self.running.lives, timeout_s, 0.1)
        assert self.running.lives, self.running.said(60)

    def executors(self) -> dict[str, str]:
        """The hosts of the executors by executor id, once there is one on every host."""
        return {executor_id: host_of(pid) for executor_id, pid in self._pids().items()}

    def pid(self, executor_id: str) -> int:
        return self._pids()[executor_id]

    def has_executors(self) -> bool:
        return bool(self.executors_now())

    def executors_now(self) -> dict[str, int]:
        """The pids of the executors that there are, on however many hosts."""
        return self._cluster.executors()

    def _pids(self) -> dict[str, int]:
        def seen_twice() -> dict[str, int]:
            # A process that an executor has just forked looks like it, but not for long.
            first = self._cluster.executors()
            time.sleep(0.1)
            stayed = first == self._cluster.executors()
            return first if stayed and len(first) == len(self._cluster.workers) else {}

        return until(seen_twice, PATIENCE_S)

    def hosts(self, name: str) -> dict[int, str]:
        """The hosts that the partitions of the query's last batch ran on."""
        last = json.loads((self.out / name / f"batch-{self.last(name):05}.json").read_text())
        return {partition: host for _, partition, host in last}

    def ask(self, name: str, places: Places | None) -> None:
        """Writes the control document as the server does; None withdraws what was asked."""
        if places is None:
            self._write(name)
        else:
            settings: dict[str, Value] = {
                "places": {str(partition): to for partition, to in places.items()}
            }
            self._write(name, TECHNIQUE, settings)

    def ask_for_executors(self, name: str, executors: int) -> None:
        """As the SLO of one of the queries may, for all of the application."""
        self._write(name, SIZING, {"executors": executors})

    def _write(
        self, name: str, technique: str = "", settings: dict[str, Value] | None = None
    ) -> None:
        self._versions[name] += 1
        version, wanted = self._versions[name], {}
        if settings is not None:
            wanted = {technique: Wanted("act", version, LEASE_MS, settings)}
        document = Control(version, time.time_ns() // 1_000_000, wanted)
        self._redis.set(keys.control(_job_id(name)), control.encode(document))

    def is_settled(self, name: str) -> bool:
        """Whether every JVM holds or refused what was asked last."""
        asked = self._asked(name)
        return asked is not None and asked.version == self._versions[name] and asked.settled

    def answer(self, name: str) -> Applied | None:
        """What the job says of the order it was asked last."""
        asked = self._asked(name)
        return asked.techniques[0] if asked and self.is_settled(name) and asked.techniques else None

    def _asked(self, name: str) -> Asked | None:
        newest = self._redis.xrevrange(keys.frames(_job_id(name)).key, count=1)
        return decode(newest[0][1][keys.PAYLOAD]).asked if newest else None

    def _batches(self, name: str) -> list[Path]:
        return list((self.out / name).glob("batch-*.json"))


def untouched(out: Path, like: Path) -> None:
    """Runs the same batches without Curtail, without a cluster, and writes down both states."""
    conf = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "1"}
    out.mkdir()
    with Running(program(out, "--conf", json.dumps(conf), "--like", str(like))) as running:
        assert running.wait(timeout_s=240) == 0, running.said(60)


def program(out: Path, *words: str) -> Program:
    argv = (sys.executable, "-m", job.__name__, "--out", str(out), *words)
    env = programs.environ(os.environ, **programs.same_python())
    return Program(out.name, argv, env, out / "driver.log")


def _job_id(name: str) -> str:
    return keys.job_id(job.NAME, name)

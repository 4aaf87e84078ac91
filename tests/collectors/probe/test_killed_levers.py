"""Whoever is killed in the middle of a change: every state store compacts and snapshots on."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from collectors.formats import activity, keys
from collectors.formats.activity import Kind
from collectors.formats.asked import State
from collectors.formats.control import Scalar, Wanted
from dashboard.testing.stack import RedisServer
from techniques.shadowsync.algorithm import THRESHOLD, ceiling
from tests.collectors.control_client import Operator, held_until
from tests.collectors.killable_job import CHANGELOGS
from tests.collectors.query_input import Folder
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.own_jvm]

PARTITIONS = 2
EVERY = 4
NAMES = ("flushing", "changelogs")
OPTIONS = {
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": str(EVERY),
    "spark.sql.streaming.stateStore.maintenanceInterval": "500ms",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
# Two at a time: a change of one does not wait for the other.
PARTS: dict[str, dict[str, Scalar]] = {
    "thresholds and snapshots": {"thresholds": True, "spread": 4, "snapshots": True},
    "delay and threads": {"delay_ms": 300, "threads": True, "compaction_threads": 3},
}
ALL = {name: value for part in PARTS.values() for name, value in part.items()}
LEASE_MS = 2_000
LONG_LEASE_MS = 60_000
# For so long an edition is in force that the collector does not renew.
DRIVERS_LEASE_S = 10
STEP_S = 0.1
STEPS = 4
ANSWER_S = 120


class Mortal:
    """The job in a process of its own, with an operator for each of its queries."""

    def __init__(self, server: RedisServer, path: Path) -> None:
        self.folders = {name: Folder(path / name) for name in NAMES}
        self._server = server
        self._operators = {name: Operator(server, f"tests.{name}") for name in NAMES}
        self.lease_ms = LEASE_MS
        self._version = 0
        asked = {
            "redis": server.url,
            "folders": {name: str(folder.path) for name, folder in self.folders.items()},
            "options": OPTIONS,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.collectors.killable_job", json.dumps(asked)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        )

    def feed(self, files: int = 1) -> None:
        for folder in self.folders.values():
            folder.add(files)

    def look(self) -> dict[str, Any]:
        """When all input is done."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(b"?\n")
        while True:
            ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_S)
            assert ready, "the job does not answer"
            line = self._process.stdout.readline()
            assert line, "the job has ended"
            if line.startswith(b"{"):
                found: dict[str, Any] = json.loads(line)
                return found

    def stores(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.look()["stores"][name]
        return found

    def ask(self, settings: dict[str, Scalar] | None, **others: Scalar) -> None:
        """Of both queries; None is *off*."""
        self._version += 1
        self._write(settings, others)

    def hold(self, settings: dict[str, Scalar]) -> None:
        """Until both say that it is applied."""
        self._version += 1
        held_until(self._is_applied, lambda: self._write(settings, {}))

    def change(self, part: dict[str, Scalar], steps: int = STEPS) -> None:
        """On, otherwise and off again, while batches run: the lever is never done with it."""
        for step in range(steps):
            self.feed()
            self.ask(None if step % 3 == 2 else part, seed=step)
            time.sleep(STEP_S)

    def compactions(self) -> int:
        entries: Any = Redis.from_url(self._server.url).xrange(
            keys.activities("tests.flushing").key
        )
        found = [each for _, fields in entries for each in activity.decode(fields[keys.PAYLOAD])]
        return sum(each.kind == Kind.COMPACTION for each in found)

    def kill(self) -> None:
        """All of it: the script, its JVM and what that started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def is_running(self) -> bool:
        return self._process.poll() is None

    def _write(self, settings: dict[str, Scalar] | None, others: dict[str, Scalar]) -> None:
        wanted = Wanted("act", self._version, self.lease_ms, {**(settings or {}), **others})
        asked = {} if settings is None else {"shadowsync": wanted}
        for operator in self._operators.values():
            operator.ask(self._version, **asked)

    def _is_applied(self) -> bool:
        return all(
            [(each.version, each.state) for each in operator.states()]
            == [(self._version, State.APPLIED)]
            for operator in self._operators.values()
        )


@pytest.fixture(scope="module")
def job(module_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    mortal = Mortal(module_redis, tmp_path_factory.mktemp("mortal"))
    try:
        mortal.feed()
        mortal.look()
        yield mortal
    finally:
        if mortal.is_running():
            mortal.kill()


@pytest.fixture(scope="module")
def untouched(job: Mortal) -> dict[str, Any]:
    return job.look()


def assert_all_go_on(found: dict[str, Any]) -> None:
    """No database is without compaction, no level 0 grows, and the next snapshot is near."""
    for store in [each for stores in found["stores"].values() for each in stores]:
        assert not store["disabled"]
        # Lower for once where a store returns to the checkpoints at which it compacted before.
        assert 1 <= store["trigger"] <= ceiling()
        assert store["level0"] < ceiling()
    for store in found["stores"]["changelogs"]:
        assert store["snapshot"] <= store["version"] < store["snapshot"] + EVERY


def is_restored(found: dict[str, Any], untouched: dict[str, Any]) -> bool:
    """Spark's own trigger everywhere, its threads, and snapshots in step again."""
    stores = [each for stores in found["stores"].values() for each in stores]
    phases = {each["snapshot"] % EVERY for each in found["stores"]["changelogs"]}
    return (
        {each["trigger"] for each in stores} == {THRESHOLD}
        and found["threads"] == untouched["threads"]
        and phases == {0}
    )


def until_restored(job: Mortal, untouched: dict[str, Any]) -> None:
    """While the job goes on: a store that was to wait twice comes back after its next snapshot."""

    def restored() -> bool:
        job.feed()
        found = job.look()
        assert_all_go_on(found)
        return is_restored(found, untouched)

    until(restored, timeout_s=120)


@pytest.mark.parametrize("part", PARTS)
def test_a_collector_killed_in_the_middle_of_a_change_leaves_databases_that_go_on(
    job: Mortal, untouched: dict[str, Any], part: str
) -> None:
    job.hold({**PARTS[part], "seed": 17})
    moment = random.Random(part).randrange(1, STEPS)
    pid = job.look()["collector"]

    job.change(PARTS[part], steps=moment)
    os.kill(pid, signal.SIGKILL)
    job.change(PARTS[part], steps=STEPS - moment)

    assert_all_go_on(job.look())
    # Started again by the driver, it takes up what was asked last.
    until(lambda: job.look()["collector"] not in (pid, -1), timeout_s=20)


def test_when_nobody_renews_what_is_asked_all_of_it_is_set_back(
    job: Mortal, untouched: dict[str, Any]
) -> None:
    job.hold(ALL)
    job.change(ALL, steps=2)

    until_restored(job, untouched)


@contextmanager
def standing_still(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_when_the_collector_says_nothing_any_more_the_driver_sets_all_back(
    job: Mortal, untouched: dict[str, Any]
) -> None:
    pid, compactions = job.look()["collector"], job.compactions()
    job.lease_ms = LONG_LEASE_MS
    job.hold(ALL)
    job.change(ALL, steps=2)
    with standing_still(pid):
        began_s = time.monotonic()
        until_restored(job, untouched)
        took_s = time.monotonic() - began_s
    job.ask(None)

    # Not by the server's lease, and not at once.
    assert DRIVERS_LEASE_S / 3 < took_s < LONG_LEASE_MS / 1000
    job.feed(THRESHOLD)
    until(lambda: all(each["level0"] < THRESHOLD for each in job.stores("flushing")))
    until(lambda: job.compactions() > compactions)


def until_spread(job: Mortal) -> None:
    """Each partition has written a snapshot since, at another version than the others."""
    began = max(each["version"] for each in job.stores("changelogs"))

    def spread() -> bool:
        job.feed()
        versions = {each["snapshot"] for each in job.stores("changelogs")}
        return min(versions) > began and len(versions) == PARTITIONS

    until(spread, timeout_s=40)


def test_plain_spark_goes_on_with_the_same_results_after_the_executor_was_killed(
    job: Mortal,
) -> None:
    job.lease_ms = LONG_LEASE_MS
    job.hold(ALL)
    until_spread(job)
    job.change(ALL, steps=2)
    job.kill()
    job.feed()

    asked = {
        "queries": [
            {
                "name": name,
                "kind": "count",
                "folder": str(folder.path),
                "options": {CHANGELOGS: str(name == "changelogs").lower()},
            }
            for name, folder in job.folders.items()
        ],
        "options": OPTIONS,
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.collectors.stateful_job", json.dumps(asked)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    counts = {each["name"]: each["counts"] for each in outcomes}
    assert counts == {name: folder.counts() for name, folder in job.folders.items()}

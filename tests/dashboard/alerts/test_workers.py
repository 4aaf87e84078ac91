"""Real worker processes on one database: killed in mid-send, beside each other, behind a slow one.

What counts is what the receiver saw: each message at least once, under one id.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from dashboard.cli import programs, sessions
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT
from dashboard.testing.running import Running
from tests.dashboard.alerts.received import Received
from tests.waiting import until

LEASE_MS = 4_500
# Processes of Python and Django on a machine that has other things to do.
PATIENCE_S = 60


@dataclass(frozen=True)
class Office:
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        database = f"sqlite:///{self.folder}/curtail.sqlite3"
        return programs.environ(
            os.environ, CURTAIL_DATA_DIR=str(self.folder), DATABASE_URL=database
        )

    def do(self, *words: str) -> str:
        done = subprocess.run(
            self._argv(*words), cwd=ROOT, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    @contextmanager
    def worker(self) -> Iterator[Running]:
        log = self.folder / f"worker-{time.monotonic_ns()}.log"
        argv = self._argv("run", str(LEASE_MS))
        with Running(Program("worker", argv, self.env, log)) as process:
            yield process

    def states(self) -> dict[str, int]:
        with closing(sqlite3.connect(self.folder / "curtail.sqlite3", timeout=20)) as database:
            return Counter(state for (state,) in database.execute(STATES))

    @staticmethod
    def _argv(*words: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "tests.dashboard.alerts.worker", *words)


STATES = "SELECT state FROM dashboard_delivery"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_a_worker_killed_in_mid_send_loses_nothing(receiver: Received, office: Office) -> None:
    receiver.knows(*office.do("prepare", "5", receiver.url("slow_first")).split())
    with office.worker() as worker:
        until(lambda: receiver.seen, PATIENCE_S)  # it is sending, and nobody answers yet
        sessions.send(worker.pid, signal.SIGKILL)
        worker.wait(10)
    assert office.states() == {"pending": 5}

    receiver.release()
    with office.worker():
        until(lambda: office.states() == {"delivered": 5}, PATIENCE_S)
    # The one that was on its way came again when its lease had run out, under the same id, and
    # was verified again; the others came once.
    first, *others = receiver.ids
    assert Counter(others)[first] == 1
    assert set(Counter(others).values()) == {1}
    assert len(others) == 5
    assert all(each["verified_by"] for each in receiver.seen)
    again_ms = next(e["at_ms"] for e in receiver.seen[1:] if e["headers"]["webhook-id"] == first)
    assert again_ms - receiver.seen[0]["at_ms"] >= LEASE_MS - 500


def test_two_workers_send_each_message_once_and_a_slow_endpoint_holds_up_nobody(
    receiver: Received, office: Office
) -> None:
    urls = [receiver.url("slow?s=30"), *(receiver.url(f"ok?n={n}") for n in range(3))]
    receiver.knows(*office.do("prepare", "10", *urls).split())
    with office.worker(), office.worker():
        until(lambda: office.states() == {"pending": 10, "delivered": 30}, PATIENCE_S)
    quick = [each for each in receiver.seen if each["path"].startswith("/ok")]
    assert set(Counter((e["path"], e["headers"]["webhook-id"]) for e in quick).values()) == {1}
    assert len(quick) == 30
    # The slow one got one at a time: the next only after the deadline of the one before.
    slow_ms = [each["at_ms"] for each in receiver.seen if each["path"].startswith("/slow")]
    assert all(later - earlier >= 1_000 for earlier, later in pairwise(slow_ms))

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from dashboard.cli.root import ROOT
from dashboard.testing.stack import RedisServer
from tests.waiting import until


@dataclass(frozen=True)
class Supervised:
    """A supervisor with its programs, in a process of its own, writing into one folder."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()

    def says(self, words: str) -> None:
        until(lambda: words in self.output)

    def ends(self, timeout_s: float = 60) -> int:
        return self.process.wait(timeout_s)

    def pid(self, name: str) -> int:
        """What a program wrote with `echo $$ >"$FOLDER/<name>"`, once it is there."""
        return int(until(lambda: self.lines(name))[-1])

    def lines(self, name: str) -> list[str]:
        """What programs have written into a file so far."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Callable[..., Supervised]]:
    started: list[Supervised] = []

    def start(*programs: str, **limits: float) -> Supervised:
        settings = json.dumps({"pause_s": 0, "grace_s": 30, **limits})
        with (tmp_path / "output").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.plans", settings, *programs],
                cwd=ROOT,
                env={**os.environ, "FOLDER": str(tmp_path)},
                stdout=output,
                stderr=output,
            )
        started.append(Supervised(process, tmp_path))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()  # its warden ends the rest
            one.process.wait()


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def redis_url(redis: RedisServer) -> str:
    return redis.url

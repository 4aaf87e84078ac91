"""The arms of the overhead benchmark: starts their JVMs, warms them up, runs them in turns."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import overhead_job, turns
from benchmarks.turns import Job, Turn
from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.testing.running import Running

START_S = 120.0
END_S = 400.0
JAM_ROWS = 10_000
# A file system in memory, if there is one, so that the disk's noise is not measured.
IN_MEMORY = Path("/dev/shm")

Round = Mapping[str, Turn]


class Arm(Job):
    """One JVM with the traffic jam job, in a folder of its own."""

    def __init__(self, name: str, folder: Path, redis_url: str, words: Sequence[str]) -> None:
        folder.mkdir()
        self.application = f"overhead-{name}"
        self._folder = folder
        argv = (
            *(sys.executable, "-m", overhead_job.__name__, "--arm", name),
            *("--job", self.application, "--redis", redis_url, "--folder", str(folder)),
            *("--jam-rows", str(JAM_ROWS), *words),
        )
        env = programs.environ(os.environ, **programs.same_python())
        running = Running(Program(name, argv, env, folder / "run.log"))
        super().__init__(name, running, folder / overhead_job.CHECKPOINT)

    @property
    def collector(self) -> int:
        """The pid of its collector process."""
        return int(json.loads((self._folder / overhead_job.STARTED).read_text())["collector"])

    def wait_until_started(self) -> None:
        self.running.wait_until((self._folder / overhead_job.STARTED).exists, START_S)

    def finish(self) -> dict[str, Any]:
        """Continues the job, waits for its end and returns the JSON it printed last."""
        (self._folder / overhead_job.STOP).touch()
        self.go_on()
        if self.running.wait(END_S):
            raise RuntimeError(f"{self.name} failed:\n{self.running.said()}")
        said: dict[str, Any] = json.loads(self.running.said(lines=1))
        return said


@dataclass(frozen=True)
class Plan:
    """Durations of the phases. Turns go on for `turns_s`, and until each order had `fewest`."""

    orders: tuple[tuple[str, ...], ...]
    warm_up: int
    settle: int
    batches: int
    turns_s: float
    fewest: int
    words: Mapping[str, Sequence[str]]

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(name for order in self.orders for name in order))


@contextmanager
def started(plan: Plan, redis_url: str) -> Iterator[dict[str, Arm]]:
    """Starts all arms together, as a start is mostly waiting; yields them warm and stopped."""
    where = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(
        prefix="curtail-", dir=where, ignore_cleanup_errors=True
    ) as name:
        arms: dict[str, Arm] = {}
        with turns.ended(arms.values()):
            for arm in plan.arms:
                arms[arm] = Arm(arm, Path(name, arm), redis_url, plan.words.get(arm, ()))
            for each in arms.values():
                each.wait_until_started()
            warm_up(list(arms.values()), plan.warm_up)
            yield arms


def warm_up(arms: list[Arm], batches: int) -> None:
    """Warms all arms up together; one that is warm is stopped, to leave the CPU to the others."""
    while arms:
        slowest = min(arms, key=lambda arm: arm.batch)
        slowest.wait_for(slowest.batch + 1)
        for arm in [arm for arm in arms if arm.batch >= batches]:
            arm.stop()
            arm.put_compilers_last()
            arms.remove(arm)


def take_turns(plan: Plan, arms: Mapping[str, Arm]) -> list[Round]:
    """Runs whole passes through the orders: half a pass would not be counterbalanced."""
    began_s = time.monotonic()
    rounds: list[Round] = []
    passes = 0
    while passes < plan.fewest or time.monotonic() - began_s < plan.turns_s:
        for order in plan.orders:
            rounds.append({arm: arms[arm].turn(plan.settle, plan.batches) for arm in order})
        passes += 1
    return rounds

"""Starts the archiver every five minutes, as a process: the worker never has a JVM, and no tick
waits for it.

With several workers, one of them has the lease of a chore and runs it; a worker that died is
replaced when its lease has expired. Nothing depends on that but the cost: archivers may be killed
and may run side by side.
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from django.conf import settings

from dashboard.environment import ROOT
from dashboard.masking import masked
from dashboard.store import Store
from dashboard.worker import archive_notifications, loop
from dashboard.worker.job_leases import owner_name

log = logging.getLogger(__name__)

# The archiver yields to jobs and servers on the same machine.
ARCHIVE = ("nice", "-n", "10", sys.executable, "-m", "dashboard.cli", "archive")


@dataclass(frozen=True)
class Chore:
    """What is run, how often, and how long it may take. What it has done by then stays done."""

    name: str
    argv: tuple[str, ...]
    every_s: float
    bound_s: float


# The first run of each comes after its interval, so nothing begins while a demo warms up.
CHORES = (
    Chore("archive", (*ARCHIVE, "--once"), every_s=300, bound_s=900),
    Chore("upkeep", (*ARCHIVE, "--upkeep"), every_s=3_600, bound_s=900),
)


class Running:
    """One run of a chore; the last line that it printed is its summary."""

    def __init__(self, chore: Chore, until_s: float, log_path: Path | None) -> None:
        self.chore = chore
        self.until_s = until_s
        # Not a pipe, which a JVM that outlives the process would hold open.
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        with (log_path or Path(os.devnull)).open("wb") as errors:
            self._process = subprocess.Popen(
                chore.argv,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=errors,
                # A group of its own, to be killed with its JVM; the worker's session, so that
                # whoever ends the worker ends it too.
                process_group=0,
            )

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def summary(self) -> str:
        self._out.seek(0)
        lines = self._out.read().decode(errors="replace").strip().splitlines()
        return masked(lines[-1]) if lines else ""


class Archiving:
    def __init__(
        self,
        owner: str,
        chores: tuple[Chore, ...] = CHORES,
        clock_s: Callable[[], float] = time.monotonic,
        log_path: Path | None = None,
    ) -> None:
        self._owner = owner
        self._clock_s = clock_s
        self._log_path = log_path
        self._due_s: Mapping[Chore, float] = {each: clock_s() + each.every_s for each in chores}
        self._running: Running | None = None

    def tick(self, store: Store) -> None:
        """Starts what is due if this worker has its lease, and settles what has ended."""
        if self._running:
            self._settle(self._running)
        if self._running:
            self._holds(store, self._running.chore)
            return
        now_s = self._clock_s()
        for chore, due_s in self._due_s.items():
            if now_s >= due_s and self._holds(store, chore):
                self._due_s = {**self._due_s, chore: now_s + chore.every_s}
                self._start(chore)
                return

    def stop(self) -> None:
        if self._running:
            self._running.kill()
            self._running = None

    def _holds(self, store: Store, chore: Chore) -> bool:
        lasting_ms = int(chore.every_s * 1000)
        return loop.run(store.lease(f"chore:{chore.name}", self._owner, lasting_ms))

    def _start(self, chore: Chore) -> None:
        try:
            self._running = Running(chore, self._clock_s() + chore.bound_s, self._log_path)
        except OSError as error:
            self._tell(chore, f"{chore.argv[0]} cannot be started: {error}", well=False)

    def _settle(self, running: Running) -> None:
        code = running.code
        if code is None:
            if self._clock_s() < running.until_s:
                return
            running.kill()
            why = f"It was ended, as it took longer than {running.chore.bound_s:.0f} s."
            self._tell(running.chore, why, well=False)
        else:
            summary = running.summary() or f"It ended with code {code} and without a word."
            self._tell(running.chore, summary, well=code == 0)
        self._running = None

    def _tell(self, chore: Chore, said: str, well: bool) -> None:
        log.log(logging.INFO if well else logging.WARNING, "%s: %s", chore.name, said)
        if well:
            archive_notifications.works(chore.name)
        else:
            archive_notifications.failed(chore.name, said)


@cache
def the_archiving() -> Archiving:
    """The one of this process, created by its first tick: with Celery, after the fork."""
    return Archiving(owner_name(), log_path=settings.ENVIRONMENT.data_dir / "archive.log")

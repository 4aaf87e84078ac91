"""One real program in the background, in a session of its own, ended with all it started."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from types import TracebackType

from dashboard.cli import sessions
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT

END_S = 15.0


class DidNotStart(Exception):
    """The program did not start; the message has the last lines of its output."""


class Running:
    def __init__(self, program: Program) -> None:
        assert program.log is not None
        self._program = program
        self._log = program.log
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                program.argv,
                cwd=ROOT,
                env=dict(program.env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def wait_until(self, ready: Callable[[], bool], timeout_s: float = 240) -> "Running":
        deadline = time.monotonic() + timeout_s
        while not ready():
            if not self.lives or time.monotonic() > deadline:
                self.end()
                raise DidNotStart(f"{self._program.name} did not start:\n{self.said()}")
            time.sleep(0.02)
        return self

    def wait(self, timeout_s: float) -> int:
        return self._process.wait(timeout_s)

    def said(self, lines: int = 30) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])

    def end(self) -> None:
        """Sends SIGTERM, later SIGKILL; returns when no process of its session is left."""
        if self.lives:
            os.kill(self._process.pid, signal.SIGTERM)
        deadline = time.monotonic() + END_S
        while sessions.members(self._process.pid):
            if time.monotonic() > deadline:
                sessions.send(self._process.pid, signal.SIGKILL)
            self._process.poll()
            time.sleep(0.02)
        self._process.wait()

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _at: TracebackType | None,
    ) -> None:
        self.end()

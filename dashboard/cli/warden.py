"""Ends the processes that a killed supervisor leaves behind.

`kill -9` gives the supervisor no chance to stop anything. So a second, tiny process holds the read
end of a pipe, hears which sessions there are (`+1234`, `-1234`), and when the pipe closes ends
those that are left, grandchildren included. PR_SET_PDEATHSIG would end the direct children only:
Spark's JVM would live on. What remains even so: the files of the temporary data folder, a process
that moved itself into a session of its own, and everything if the warden is killed as well.
"""

import signal
import subprocess
import sys
import time
from contextlib import suppress

from dashboard.cli import sessions
from dashboard.cli.root import ROOT

GRACE_S = 5.0


class Warden:
    """The supervisor's end of the pipe."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli.warden"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def guard(self, session: int) -> None:
        self._tell(f"+{session}\n")

    def release(self, session: int) -> None:
        self._tell(f"-{session}\n")

    def close(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # A supervisor whose warden is gone can still do its own work.
        with suppress(OSError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def end(left: set[int], grace_s: float = GRACE_S) -> None:
    deadline = time.monotonic() + grace_s
    for session in left:
        sessions.send(session, signal.SIGTERM)
    while any(sessions.members(session) for session in left):
        if time.monotonic() > deadline:
            for session in left:
                sessions.send(session, signal.SIGKILL)
        time.sleep(0.05)


def main() -> None:
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    left: set[int] = set()
    for line in sys.stdin:
        session = int(line[1:])
        if line[0] == "+":
            left.add(session)
        else:
            left.discard(session)
    end(left)


if __name__ == "__main__":
    main()

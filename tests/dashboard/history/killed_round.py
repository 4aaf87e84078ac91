"""A round of the archiver in a process that kills itself at one of its calls.

    python -m tests.dashboard.history.killed_round REDIS_URL FOLDER PIECE CALL (before|after) JOB …

The calls to Redis and to the archive are numbered from 1. The process is killed before its numbered
call begins or after it ended, and says `killed at NAME` before that.
"""

import os
import signal
import sys
from functools import partial
from typing import Any

from dashboard.history.archive import Archive, Place
from dashboard.history.rollups import roll_up
from dashboard.history.round import Round
from dashboard.history.streams import RedisStreams


class Killing:
    """Passes calls on to `kept`, counted together with those of all others."""

    number = 0

    def __init__(self, kept: Any, fatal: int, after: bool) -> None:
        self._kept, self._fatal, self._after = kept, fatal, after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._kept, name)

        def call(*words: Any) -> Any:
            Killing.number += 1
            dies = Killing.number == self._fatal
            if dies and not self._after:
                die(name)
            answer = method(*words)
            if dies:
                die(name)
            return answer

        return call


def die(name: str) -> None:
    print(f"killed at {name}", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def main(url: str, folder: str, piece: str, call: str, when: str, *job_ids: str) -> None:
    archive = Killing(Archive(Place(folder)), int(call), when == "after")
    source = Killing(RedisStreams(url), int(call), when == "after")
    told = Round(source, archive, partial(roll_up, archive), int(piece)).run(job_ids)
    print(told.line(), flush=True)
    if not told.well:
        raise SystemExit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])

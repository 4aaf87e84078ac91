"""A round of the archiver in a process that kills itself at one of its calls.

The calls to Redis and to the archive are numbered from 1. The process is killed before its numbered
call begins or after it ended, and writes that call's name into a file before that.
"""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

from dashboard.history.archive import Archive, Place
from dashboard.history.rollups import roll_up
from dashboard.history.round import Round
from dashboard.history.streams import RedisStreams


class Killing:
    """Passes calls on to `kept`, counted together with those of all others."""

    number = 0

    def __init__(self, kept: Any, fatal: int, after: bool, told: Path) -> None:
        self._kept, self._fatal, self._after, self._told = kept, fatal, after, told

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._kept, name)

        def call(*words: Any) -> Any:
            Killing.number += 1
            dies = Killing.number == self._fatal
            if dies and not self._after:
                self._die(name)
            answer = method(*words)
            if dies:
                self._die(name)
            return answer

        return call

    def _die(self, name: str) -> None:
        self._told.write_text(name)
        os.kill(os.getpid(), signal.SIGKILL)


def run(url: str, folder: Path, piece: int, fatal: int, after: bool, job_ids: list[str]) -> None:
    fate = partial(Killing, fatal=fatal, after=after, told=folder.with_suffix(".killed"))
    archive: Any = fate(Archive(Place(str(folder))))
    source: Any = fate(RedisStreams(url))
    told = Round(source, archive, partial(roll_up, archive), piece).run(job_ids)
    if not told.well:
        raise AssertionError(told.line())

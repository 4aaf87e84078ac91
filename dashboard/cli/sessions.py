"""The processes of a Unix session, found in /proc.

Not of a process group: PySpark's worker daemon makes its own group (`os.setpgid(0, 0)`), so a
signal to the driver's group misses every Python worker. No program that we start leaves its
session.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path


def members(session: int) -> list[int]:
    """The ids of the session's living processes, without zombies."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path("/proc", name, "stat").read_bytes()
        except OSError:
            continue  # it ended while we looked
        # The command's name comes in parentheses and may itself hold spaces and parentheses.
        state, _parent, _group, of_session, *_ = stat.rpartition(b")")[2].split()
        if int(of_session) == session and state not in (b"Z", b"X"):
            found.append(int(name))
    return found


def send(session: int, signum: signal.Signals) -> list[int]:
    """Signals every process of the session and returns their ids."""
    there = members(session)
    for pid in there:
        with suppress(ProcessLookupError):
            os.kill(pid, signum)
    return there

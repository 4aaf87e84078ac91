"""The processes of a Unix session, found in /proc.

Not of a process group: PySpark's worker daemon makes a group of its own (`os.setpgid(0, 0)`), so
a signal to the group of the driver misses every Python worker. None of what we start leaves its
session.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path


def members(session: int) -> list[int]:
    """The living ones; a zombie has nothing left to end."""
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
    """Signals every process of the session; says which there were."""
    there = members(session)
    for pid in there:
        with suppress(ProcessLookupError):
            os.kill(pid, signum)
    return there

"""Identifies a process by pid and start time, as pids are reused, and checks if it still lives."""

import os
from pathlib import Path

from techniques.pool.osrbuffer.layout import PID_BITS, PID_MASK, START_MASK

# The cached result of `own_mark`; None before its first call and in a forked child.
known: int | None = None


def own_mark() -> int:
    """Returns this process as in a slot's claim: its pid and the lower bits of its start time."""
    global known
    if known is None:
        found = _stat(os.getpid())
        assert found is not None
        known = os.getpid() | (found[1] & START_MASK) << PID_BITS
    return known


def _forget() -> None:
    global known
    known = None


os.register_at_fork(after_in_child=_forget)


def pid_of(mark: int) -> int:
    return mark & PID_MASK


def lives(mark: int) -> bool:
    try:
        found = _stat(pid_of(mark))
    except PermissionError:
        # The process exists; taking it for dead would be worse than waiting.
        return True
    return found is not None and found[0] and found[1] & START_MASK == mark >> PID_BITS


def _stat(pid: int) -> tuple[bool, int] | None:
    """Returns whether it runs, and its start time in clock ticks since boot; None if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    # A first thread that ended before the others looks like a zombie too.
    return state not in (b"Z", b"X") or threads > 1, started

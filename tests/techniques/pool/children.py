"""Processes that a test forks: what they do, and how they end."""

import os
import traceback
from collections.abc import Callable


def forked(work: Callable[[], object]) -> int:
    """The pid of a child that does this and nothing else; it ends with 0 when it came through."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended_by(pid: int) -> int:
    """Its exit code, or the negative number of the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

"""A periodic timer as a file descriptor: Linux's timerfd."""

import ctypes
import os

_CLOCK_MONOTONIC, _NONBLOCK, _CLOEXEC = 1, os.O_NONBLOCK, os.O_CLOEXEC
_NS_PER_S = 1_000_000_000


def every(period_ns: int) -> int:
    """Returns a descriptor that becomes readable every `period_ns`, until it is read."""
    libc = ctypes.CDLL(None, use_errno=True)
    clock: int = libc.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK | _CLOEXEC)
    seconds, nanoseconds = divmod(period_ns, _NS_PER_S)
    when = (ctypes.c_int64 * 4)(seconds, nanoseconds, seconds, nanoseconds)
    if clock < 0 or libc.timerfd_settime(clock, 0, when, None) < 0:
        raise OSError(ctypes.get_errno(), "no timer")
    return clock

"""CPU time and memory used by this process."""

import os
import time
from pathlib import Path

_STATM = Path("/proc/self/statm")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_us() -> int:
    """CPU time used so far by all threads."""
    return time.process_time_ns() // 1_000


def resident_bytes() -> int | None:
    """Resident memory; None where there is no /proc."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return None

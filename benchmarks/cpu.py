"""CPU time and memory of processes, from the kernel's counters."""

import os
import time
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# The kernel's name for "nanoseconds that all threads of the process ran" (clock_getcpuclockid).
_SCHEDULED = 2


def process_s(pid: int) -> float:
    """CPU seconds of the process (to the nanosecond) and of its children that have ended."""
    try:
        own_s = time.clock_gettime(~pid << 3 | _SCHEDULED)
        stat = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return 0.0
    return own_s + sum(map(int, stat.rpartition(")")[2].split()[13:15])) / TICKS_PER_S


def threads(pid: int) -> list[tuple[int, str, float]]:
    """Id, name (its first 15 characters) and CPU seconds of each living thread."""
    found = []
    for thread in Path("/proc", str(pid), "task").glob("*"):
        try:
            name = (thread / "comm").read_text().rstrip("\n")
            ran_ns = int((thread / "schedstat").read_text().split()[0])
        except OSError:
            continue  # it ended while we looked
        found.append((int(thread.name), name, ran_ns / 1e9))
    return found


def host_s() -> float:
    """CPU seconds of all processes on this host."""
    user, nice, system, _idle, _iowait, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / TICKS_PER_S


def resident_mb(pid: int) -> float:
    status = Path("/proc", str(pid), "status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024

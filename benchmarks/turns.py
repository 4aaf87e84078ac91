"""Streaming jobs that take turns on one machine: while one runs, all others are stopped.

Each is a program in a session of its own (driver, JVM, collector, Python workers). A turn wakes all
its processes, lets some batches pass, measures over a number of whole batches, and stops it again
between two batches. So each JVM warms up only once, and two consecutive turns are seconds apart on
the same machine.

Progress is read from the checkpoint: Spark writes `commits/N` when batch N is done. To ask the job
itself would cost it time.

**The JIT** works on a streaming job for many minutes, as every batch is planned anew. It is no part
of a batch's long-term cost, so its CPU is counted separately, and its threads get the lowest
priority: they run when the job leaves cores idle.
"""

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import cpu
from dashboard.cli import sessions
from dashboard.testing.running import Running

POLL_S = 0.002
# No batch takes that long, not even the first of several JVMs that all start at once.
STUCK_S = 120.0
COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")
LOWEST_PRIORITY = 19


@dataclass(frozen=True)
class Reading:
    """CPU seconds so far: of the whole job, of its JIT, of each of its processes and threads."""

    clock_s: float
    epoch_ms: int
    host_s: float
    whole_s: float
    jit_s: float
    processes_s: Mapping[int, float]
    threads_s: Mapping[str, float]


@dataclass(frozen=True)
class Turn:
    """What a job did between two ends of batches: after batch `after`, up to the end of `last`."""

    after: int
    last: int
    began: Reading
    ended: Reading

    @property
    def batches(self) -> int:
        return self.last - self.after

    @property
    def clock_s(self) -> float:
        return self.ended.clock_s - self.began.clock_s

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all processes of the job, without the JIT."""
        whole_s = self.ended.whole_s - self.began.whole_s
        return whole_s - (self.ended.jit_s - self.began.jit_s)

    @property
    def others_cores(self) -> float:
        """Cores that other processes and the kernel kept busy meanwhile."""
        host_s = self.ended.host_s - self.began.host_s
        return (host_s - (self.ended.whole_s - self.began.whole_s)) / self.clock_s

    def process_cores(self, pid: int) -> float:
        return (self.ended.processes_s[pid] - self.began.processes_s[pid]) / self.clock_s

    def thread_cores(self, prefix: str) -> dict[str, float]:
        """The cores used by each thread whose name has the prefix."""
        return {
            name: (s - self.began.threads_s.get(name, 0.0)) / self.clock_s
            for name, s in self.ended.threads_s.items()
            if name.startswith(prefix)
        }


class Job:
    def __init__(self, name: str, running: Running, checkpoint: Path) -> None:
        self.name = name
        self.running = running
        self._commits = checkpoint / "commits"
        self._done = -1

    @property
    def batch(self) -> int:
        """The last finished batch; -1 before the first."""
        # Spark deletes old commits, so the first file need not be there.
        if self._commits.is_dir():
            done = (int(name) for name in os.listdir(self._commits) if name.isdigit())
            self._done = max(done, default=-1)
        return self._next()

    def _next(self) -> int:
        """As `batch`, but cheaper for polling: looks for the next file only."""
        while os.path.exists(f"{self._commits}/{self._done + 1}"):
            self._done += 1
        return self._done

    def stop(self) -> None:
        sessions.send(self.running.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        sessions.send(self.running.pid, signal.SIGCONT)

    def wait_for(self, batch: int) -> None:
        seen, seen_s = self.batch, time.monotonic()
        while (now := self._next()) < batch:
            if now > seen:
                seen, seen_s = now, time.monotonic()
            if not self.running.lives or time.monotonic() - seen_s > STUCK_S:
                raise RuntimeError(f"{self.name} stands still:\n{self.running.said()}")
            time.sleep(POLL_S)

    def turn(self, settle: int, batches: int) -> Turn:
        """Runs the job alone and measures so many batches, after `settle` that are left out: the
        first began before the job was stopped, and the next one catches up with the input."""
        self.go_on()
        try:
            self.wait_for(self.batch + settle)
            after, began = self.batch, self.read()
            self.wait_for(after + batches)
            last, ended = self.batch, self.read()
        finally:
            self.stop()
        return Turn(after, last, began, ended)

    def read(self) -> Reading:
        clock_s, epoch_ms, host_s = time.monotonic(), time.time_ns() // 1_000_000, cpu.host_s()
        processes_s = {pid: cpu.process_s(pid) for pid in sessions.members(self.running.pid)}
        threads_s: dict[str, float] = {}
        for pid in processes_s:
            for _, name, ran_s in cpu.threads(pid):
                threads_s[name] = threads_s.get(name, 0.0) + ran_s
        jit_s = sum(s for name, s in threads_s.items() if name.startswith(COMPILERS))
        whole_s = sum(processes_s.values())
        return Reading(clock_s, epoch_ms, host_s, whole_s, jit_s, processes_s, threads_s)

    def put_compilers_last(self) -> None:
        for pid in sessions.members(self.running.pid):
            for thread, name, _ in cpu.threads(pid):
                if name.startswith(COMPILERS):
                    with suppress(ProcessLookupError):
                        os.setpriority(os.PRIO_PROCESS, thread, LOWEST_PRIORITY)


@contextmanager
def ended(jobs: Iterable[Job]) -> Iterator[None]:
    """Ends all jobs on exit. Stopped ones are continued, or they would not get the signal."""
    try:
        yield
    finally:
        for job in jobs:
            job.go_on()
            job.running.end()

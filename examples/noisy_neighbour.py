"""Takes CPU time from a Spark executor, as another tenant of its host would.

    python -m examples.noisy_neighbour --work-dir DIR --share 0.25
        the executor runs for 10 ms of every 40 ms and stands still for the rest

    python -m examples.noisy_neighbour --work-dir DIR --work-dir DIR … --stall-s 0.5 1 --every-s 10
        one of the executors, chosen at random, stands still for 0.5 to 1 s about every 10 s

Nothing in the job knows of it: the executor's JVM is stopped and continued by SIGSTOP and SIGCONT,
all of its threads together, as the kernel does with a container that has used up its CPU quota and
a hypervisor with a virtual machine whose cores others use. So its tasks, garbage collections,
heartbeats and the probe in it are all slower. Stops of milliseconds are far from the two minutes
after which Spark gives up an executor that does not report.

An executor is found by its working folder, which lies below the worker's (`--work-dir` of Spark's
worker), so nobody else's can be hit. One that dies is replaced by Spark, and found again. On
SIGTERM and SIGINT everything runs on.
"""

import argparse
import os
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

EXECUTOR = "CoarseGrainedExecutorBackend"
LOOK_EVERY_S = 0.5
# Gaps between two stalls lie in this range around their mean.
SPREAD = (0.5, 1.5)


class Neighbour:
    """Stops the executors of some workers; `over` ends every wait."""

    def __init__(self, work_dirs: Sequence[Path], over: threading.Event) -> None:
        self._work_dirs = work_dirs
        self._over = over
        self._found: dict[Path, int] = {}

    def slow(self, share: float, period_s: float) -> None:
        """Leaves the executor of the first worker this share of every period."""
        while not self._over.is_set():
            with self._standing_still(self._work_dirs[0]) as there:
                self._over.wait(period_s * (1 - share) if there else LOOK_EVERY_S)
            self._over.wait(period_s * share)

    def stall(self, least_s: float, most_s: float, every_s: float, numbers: random.Random) -> None:
        """Lets one executor at a time stand still, with pauses of `every_s` on average."""
        while not self._over.wait(every_s * numbers.uniform(*SPREAD)):
            where, for_s = numbers.choice(self._work_dirs), numbers.uniform(least_s, most_s)
            with self._standing_still(where):
                self._over.wait(for_s)

    @contextmanager
    def _standing_still(self, work_dir: Path) -> Iterator[bool]:
        """Yields whether there is an executor that stands still."""
        stopped = self._send(work_dir, signal.SIGSTOP)
        try:
            yield stopped
        finally:
            if stopped:
                self._send(work_dir, signal.SIGCONT)

    def _send(self, work_dir: Path, signum: signal.Signals) -> bool:
        # Not by its process id: that may belong to another process a moment later.
        if work_dir not in self._found:
            pid = executor_below(work_dir)
            with suppress(ProcessLookupError):
                if pid is not None:
                    self._found[work_dir] = os.pidfd_open(pid)
        if (handle := self._found.get(work_dir)) is None:
            return False
        try:
            signal.pidfd_send_signal(handle, signum)
        except ProcessLookupError:
            os.close(self._found.pop(work_dir))
            return False
        return True


def executor_below(work_dir: Path) -> int | None:
    """The process id of an executor that works in a folder below this one."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with suppress(OSError):
            process = Path("/proc", name)
            if not (process / "cwd").readlink().is_relative_to(work_dir):
                continue
            if EXECUTOR in (process / "cmdline").read_text(errors="replace"):
                return int(name)
    return None


def main(argv: Sequence[str] | None = None) -> int:
    options = checked(arguments(), argv)
    over = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: over.set())
    neighbour = Neighbour([each.resolve() for each in options.work_dir], over)
    if options.stall_s:
        least_s, most_s = options.stall_s
        neighbour.stall(least_s, most_s, options.every_s, random.Random(options.seed))
    else:
        neighbour.slow(options.share, options.period_ms / 1000)
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Takes CPU time from a Spark executor, as another tenant of its host would."
    )
    parser.add_argument(
        "--work-dir", type=Path, action="append", required=True, help="of Spark's worker"
    )
    parser.add_argument("--share", type=share, help="of the time that is left to the executor")
    parser.add_argument("--period-ms", type=above_zero, default=40.0, help="(%(default)s)")
    parser.add_argument(
        "--stall-s", type=above_zero, nargs=2, metavar=("LEAST", "MOST"), help="of one stall"
    )
    parser.add_argument("--every-s", type=above_zero, default=10.0, help="(%(default)s)")
    parser.add_argument("--seed", type=int, help="of the times and the choice of executors")
    return parser


def checked(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None = None
) -> argparse.Namespace:
    options = parser.parse_args(argv)
    if (options.share is None) == (options.stall_s is None):
        parser.error("say either --share or --stall-s")
    if options.stall_s and options.stall_s[0] > options.stall_s[1]:
        parser.error("--stall-s: the least is more than the most")
    if options.share is not None and len(options.work_dir) > 1:
        parser.error("--share is for one --work-dir")
    return options


def share(text: str) -> float:
    value = above_zero(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 1")
    return value


def above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


if __name__ == "__main__":
    raise SystemExit(main())

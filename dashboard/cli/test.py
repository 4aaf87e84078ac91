"""`curtail test`: format, lint, types and import rules, then the tests; with words, pytest alone.

Every step runs even if an earlier one failed, so that one run shows everything to fix.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from xml.etree import ElementTree

from dashboard.cli import programs
from dashboard.cli.root import ROOT
from dashboard.testing.class_archive import SHORT_LIVED, class_archive, jvm_options

# These variables may point at a real installation; tests must never write there.
NOT_FOR_TESTS = ("REDIS_URL", "DATABASE_URL")
TERMINATED = 128 + signal.SIGTERM
END_S = 10
# How many of the slowest tests each half names at its end.
SLOWEST = 40


@dataclass(frozen=True)
class Step:
    name: str
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    step: Step
    code: int
    duration_s: float

    def __str__(self) -> str:
        verdict = "ok" if self.code == 0 else f"FAILED with code {self.code}"
        return f"{self.step.name:<20} {verdict}, {self.duration_s:.1f} s"


CHECKS = (
    Step("ruff format --check", (sys.executable, "-m", "ruff", "format", "--check", ".")),
    Step("ruff check", (sys.executable, "-m", "ruff", "check", ".")),
    Step("mypy", (sys.executable, "-m", "mypy")),
    Step(
        "lint-imports",
        (sys.executable, "-c", "from importlinter.cli import lint_imports_command as l; l()"),
    ),
)
PARALLEL = "pytest"
# Most tests wait more than they compute, so they run in parallel; those that measure time do not.
HALVES = {
    PARALLEL: ("-m", "not quiet", "-n", "4", "--dist", "loadfile", "--no-loadscope-reorder"),
    "pytest, one by one": ("-m", "quiet"),
}


def run(argv: list[str]) -> int:
    if argv in (["-h"], ["--help"]):
        print(f"usage: curtail test [words for pytest]\n\n{__doc__}")
        return 0
    signal.signal(signal.SIGTERM, _terminated)
    with tempfile.TemporaryDirectory(prefix="curtail-test-", ignore_cleanup_errors=True) as folder:
        data_dir = Path(folder)
        env = environ(os.environ, data_dir)
        pytest = (sys.executable, "-m", "pytest")
        if argv:
            return _wait(subprocess.Popen([*pytest, *argv], cwd=ROOT, env=env))
        tallies = [data_dir / f"junit-{number}.xml" for number in range(len(HALVES))]
        tests = (
            Step(name, (*pytest, *words, f"--junitxml={tally}", f"--durations={SLOWEST}"))
            for (name, words), tally in zip(HALVES.items(), tallies, strict=True)
        )
        with ThreadPoolExecutor(1) as beside:
            making = beside.submit(class_archive)
            outcomes = [_run(step, env) for step in CHECKS]
            archive = making.result()
        for step in tests:
            quick = quick_jvms(archive, measured=step.name != PARALLEL)
            outcomes.append(_run(step, {**env, **quick}))
        print("\n== summary", *outcomes, counted(*tallies), sep="\n", flush=True)
    return int(any(outcome.code for outcome in outcomes))


def environ(base: Mapping[str, str], data_dir: Path) -> dict[str, str]:
    kept = {name: value for name, value in base.items() if name not in NOT_FOR_TESTS}
    return programs.environ(kept, CURTAIL_DATA_DIR=str(data_dir), **programs.same_python())


def quick_jvms(archive: Path | None, *, measured: bool) -> dict[str, str]:
    """JVMs that start sooner; those that a test measures compile as a user's do."""
    words = [] if measured else [SHORT_LIVED]
    words += [jvm_options(archive)] if archive else []
    return {"JDK_JAVA_OPTIONS": " ".join(words)} if words else {}


def counted(*tallies: Path) -> str:
    """The last line of the output: how many tests passed and failed, from pytest's reports."""
    tests = failed = skipped = 0
    for tally in tallies:
        if not tally.exists():
            return "0 passed, 1 failed: pytest did not finish"
        for suite in ElementTree.parse(tally).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    line = f"{tests - failed - skipped} passed, {failed} failed"
    return f"{line}, {skipped} skipped" if skipped else line


def _run(step: Step, env: Mapping[str, str]) -> Outcome:
    print(f"\n== {step.name}", flush=True)
    began_s = time.monotonic()
    code = _wait(subprocess.Popen(step.argv, cwd=ROOT, env=env))
    outcome = Outcome(step, code, time.monotonic() - began_s)
    print(f"== {outcome}", flush=True)
    return outcome


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait()
    except (KeyboardInterrupt, SystemExit) as asked:
        # Fixtures clean up only if pytest is asked to stop, not killed. Ctrl-C has asked it.
        if isinstance(asked, SystemExit):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def _terminated(_signum: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(TERMINATED)

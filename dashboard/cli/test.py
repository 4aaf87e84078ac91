"""`curtail test`: format, lint, types and import rules, then the tests; with words, pytest alone.

Every step runs even if an earlier one failed, so that one run shows everything to fix. What fails
is run once more, alone; what passes then is named as unsteady.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from xml.etree import ElementTree

from dashboard.cli import programs, second_try, steps
from dashboard.cli.root import ROOT
from dashboard.cli.steps import Step
from dashboard.testing.class_archive import SHORT_LIVED, class_archive, jvm_options

# These variables may point at a real installation; tests must never write there.
NOT_FOR_TESTS = ("REDIS_URL", "DATABASE_URL")
TERMINATED = 128 + signal.SIGTERM
# How many of the slowest tests each half names at its end.
SLOWEST = 40
PYTEST = (sys.executable, "-m", "pytest")
CHECKS = (
    Step("ruff format --check", (sys.executable, "-m", "ruff", "format", "--check", ".")),
    Step("ruff check", (sys.executable, "-m", "ruff", "check", ".")),
    Step("mypy", (sys.executable, "-m", "mypy")),
    Step(
        "lint-imports",
        (sys.executable, "-c", "from importlinter.cli import lint_imports_command as l; l()"),
    ),
)
# Most tests wait more than they compute, so they run side by side; those that judge a pace do not.
SIDE_BY_SIDE = ("-m", "not quiet", "-n", "4", "--dist", "loadfile", "--no-loadscope-reorder")
ONE_BY_ONE = ("-m", "quiet")


@dataclass(frozen=True)
class PytestRun:
    """`cache` is where pytest remembers what failed."""

    step: Step
    report: Path
    cache: Path


@dataclass(frozen=True)
class Verdict:
    all_passed: bool
    lines: tuple[str, ...]


def run(argv: list[str]) -> int:
    if argv in (["-h"], ["--help"]):
        print(f"usage: curtail test [words for pytest]\n\n{__doc__}")
        return 0
    signal.signal(signal.SIGTERM, _terminated)
    with tempfile.TemporaryDirectory(prefix="curtail-test-", ignore_cleanup_errors=True) as folder:
        data_dir = Path(folder)
        env = environ(os.environ, data_dir)
        if argv:
            return steps.wait(subprocess.Popen([*PYTEST, *argv], cwd=ROOT, env=env))
        with ThreadPoolExecutor(1) as beside:
            making = beside.submit(class_archive)
            checks = [steps.run(step, env) for step in CHECKS]
            archive = making.result()
        tests = _tests(env, archive, data_dir)
        print("\n== summary", *checks, *tests.lines, sep="\n", flush=True)
    return int(any(check.code for check in checks) or not tests.all_passed)


def _tests(env: Mapping[str, str], archive: Path | None, data_dir: Path) -> Verdict:
    """Both halves, then the files of what failed in them, alone."""
    measured = quick_jvms(archive, measured=True)
    halves = [
        _pytest("pytest", SIDE_BY_SIDE, data_dir, quick_jvms(archive, measured=False)),
        _pytest("pytest, one by one", ONE_BY_ONE, data_dir, measured),
    ]
    outcomes = [steps.run(half.step, env) for half in halves]
    lines = [str(outcome) for outcome in outcomes]
    codes = [outcome.code for outcome in outcomes]
    reports = [half.report for half in halves]
    ids = second_try.failed(half.cache for half in halves)
    if not second_try.is_worth_it(codes, ids):
        return Verdict(not any(codes), (*lines, counted(*reports)))
    alone = _pytest("second try, alone", second_try.files(ids), data_dir, measured)
    again = steps.run(alone.step, env)
    still = second_try.failed([alone.cache])
    unsteady = [f"UNSTEADY, passed only when run alone: {one}" for one in ids if one not in still]
    tally = counted(*reports, still_failing=len(still))
    return Verdict(again.code == 0, (*lines, str(again), *unsteady, tally))


def _pytest(name: str, words: Sequence[str], data_dir: Path, env: Mapping[str, str]) -> PytestRun:
    report, cache = data_dir / f"{name}.xml", data_dir / f"{name}.cache"
    kept = (f"--junitxml={report}", f"--durations={SLOWEST}", "-o", f"cache_dir={cache}")
    return PytestRun(Step(name, (*PYTEST, *words, *kept), env), report, cache)


def environ(base: Mapping[str, str], data_dir: Path) -> dict[str, str]:
    kept = {name: value for name, value in base.items() if name not in NOT_FOR_TESTS}
    return programs.environ(kept, CURTAIL_DATA_DIR=str(data_dir), **programs.same_python())


def quick_jvms(archive: Path | None, *, measured: bool) -> dict[str, str]:
    """JVMs that start sooner; those that a test measures compile as a user's do."""
    words = [] if measured else [SHORT_LIVED]
    words += [jvm_options(archive)] if archive else []
    return {"JDK_JAVA_OPTIONS": " ".join(words)} if words else {}


def counted(*reports: Path, still_failing: int | None = None) -> str:
    """The last line of the output: how many tests passed and failed, from pytest's reports; after
    a second try `still_failing` takes the place of what failed in the first."""
    tests = failed = skipped = 0
    for report in reports:
        if not report.exists():
            return "0 passed, 1 failed: pytest did not finish"
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    if still_failing is not None:
        failed = still_failing
    line = f"{tests - failed - skipped} passed, {failed} failed"
    return f"{line}, {skipped} skipped" if skipped else line


def _terminated(_signum: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(TERMINATED)

"""`curtail analyze`: what weeks of archived history say, as a Spark job over all jobs.

Finds when p99 of a job changed for good and what changed with it, jobs that share a host and stall
together, hours and weekdays at which incidents recur, what each kind of incident adds to latency,
and what techniques changed (docs/history.md). Times are ISO ("2026-11-01", UTC without a zone, or
"2026-11-01T10:00+01:00"), "7d ago", "12h ago" or "now". CURTAIL_ARCHIVE says where the archive is.
The report is kept in the database, where the page /analysis shows it. Exit codes: 0 if all jobs
were analysed, 1 if not, 2 for wrong usage.
"""

import argparse
import json
import os
import sys
import time
from typing import TYPE_CHECKING

from dashboard.cli.say import say
from dashboard.masking import masked

if TYPE_CHECKING:
    from dashboard.analysis.running import Asked

FAILED = 1
USAGE = 2
BAR = 30


def run(argv: list[str]) -> int:
    options = _parser().parse_args(argv)

    from dashboard import environment
    from dashboard.history.analysis.times import NoTime, parse_ms

    now_ms = time.time_ns() // 1_000_000
    try:
        found = environment.read()
        start_ms, end_ms = (parse_ms(text, now_ms) for text in (options.start, options.end))
    except (environment.EnvironmentFault, NoTime) as fault:
        say(masked(str(fault)))
        return USAGE
    if start_ms >= end_ms:
        say(f"--from {options.start} is not before --to {options.end}")
        return USAGE
    if found.archive is None:
        say("CURTAIL_ARCHIVE is off: there is no history to analyse")
        return USAGE

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    import django

    django.setup()
    from dashboard.analysis.running import Asked

    if options.id is not None:
        # Beside the server and its worker: they come first.
        os.nice(10)
    jobs = tuple(job for job in (options.jobs or "").split(",") if job)
    return _run(Asked(start_ms, end_ms, jobs, options.master), options.id, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="curtail analyze",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--from", dest="start", default="7d ago", metavar="TIME", help="(%(default)s)"
    )
    parser.add_argument("--to", dest="end", default="now", metavar="TIME", help="(%(default)s)")
    parser.add_argument("--jobs", metavar="ID,ID", help="only these jobs; otherwise all archived")
    parser.add_argument(
        "--master",
        default="local[*]",
        metavar="URL",
        help="Spark master; its executors need Python with numpy, scipy, deltalake and pyarrow, "
        "and must reach the archive (%(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="prints the report as JSON")
    # How a worker starts an analysis that was asked on the page.
    parser.add_argument("--id", type=int, help=argparse.SUPPRESS)
    return parser


def _run(asked: "Asked", analysis_id: int | None, as_json: bool) -> int:
    from dashboard.analysis.running import CannotAnalyse, perform
    from dashboard.history.analysis.text import lines

    try:
        report = perform(asked, analysis_id, _bar if sys.stderr.isatty() else _line, say)
    except CannotAnalyse as why:
        say(masked(str(why)))
        return FAILED
    print(json.dumps(report) if as_json else "\n".join(lines(report)), flush=True)
    return FAILED if report["failed"] else 0


def _bar(done: int, total: int) -> None:
    full = BAR * done // max(1, total)
    end = "\n" if done == total else ""
    print(f"\r{'█' * full}{'·' * (BAR - full)} {done} of {total} jobs", end=end, file=sys.stderr)
    sys.stderr.flush()


def _line(done: int, total: int) -> None:
    say(f"{done} of {total} jobs analysed")

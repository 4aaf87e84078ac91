"""`curtail archive`: moves closed windows from Redis to the archive, as a Spark job.

REDIS_URL, CURTAIL_ARCHIVE, CURTAIL_ARCHIVE_DAYS and CURTAIL_ARCHIVE_OPTIONS say from where, to
where and for how long (docs/history.md). It may be killed at any time and several may run at once:
nothing is lost or stored twice. Progress goes to stderr, one line per round to stdout. Exit codes:
0 if all jobs were archived, 1 if something failed (with --once), 2 for wrong usage.
"""

import argparse
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from dashboard.cli.say import say
from dashboard.masking import masked

if TYPE_CHECKING:
    from dashboard.environment import Environment
    from dashboard.history.told import Told

FAILED = 1
USAGE = 2
UNITS_S = {"s": 1, "m": 60, "h": 3_600}


def run(argv: list[str]) -> int:
    options = _parser().parse_args(argv)

    from dashboard import environment

    try:
        found = environment.read()
    except environment.EnvironmentFault as fault:
        say(masked(str(fault)))
        return USAGE
    if found.archive is None:
        say("CURTAIL_ARCHIVE is off: there is nothing to do")
        return 0
    if options.upkeep:
        return _upkeep(found)
    return _archive(found, options.master, None if options.once else options.every)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="curtail archive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--once", action="store_true", help="one round, for a scheduler of yours")
    parser.add_argument(
        "--every",
        type=duration_s,
        default="5m",
        metavar="5m",
        help="from one round's end to the next one's begin, as in 90s, 5m, 1h (%(default)s)",
    )
    parser.add_argument(
        "--master",
        default="local[1]",
        metavar="URL",
        help="Spark master; its executors need Python with redis, deltalake and pyarrow, "
        "and must reach Redis and the archive (%(default)s)",
    )
    parser.add_argument(
        "--upkeep",
        action="store_true",
        help="without Spark: joins small files and removes days past CURTAIL_ARCHIVE_DAYS",
    )
    return parser


def duration_s(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,6})([smh])", text)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no duration such as 90s, 5m or 1h")
    return int(match[1]) * UNITS_S[match[2]]


def _archive(found: "Environment", master: str, every_s: int | None) -> int:
    from dashboard.history.round import SourceUnavailable
    from dashboard.history.streams import RedisStreams
    from dashboard.history.told import Told

    streams = RedisStreams(found.redis_url)
    with _Rounds(found, master) as rounds:
        while True:
            try:
                # Without jobs there is no JVM to start.
                job_ids = streams.job_ids()
                told = rounds.run(job_ids) if job_ids else Told()
            except SourceUnavailable as error:
                told = Told(stopped=f"Redis is unavailable: {error}")
            except Exception as error:
                told = Told(stopped=f"Spark cannot run: {type(error).__name__}: {error}"[:500])
            print(masked(told.line()), flush=True)
            if every_s is None:
                return 0 if told.well else FAILED
            time.sleep(every_s)


def _upkeep(found: "Environment") -> int:
    from dashboard.history.archive import ArchiveUnavailable, Place
    from dashboard.history.upkeep import tidy

    assert found.archive is not None
    place = Place(found.archive, found.archive_options)
    try:
        tidied = tidy(place, found.archive_days, time.time_ns() // 1_000_000)
    except ArchiveUnavailable as error:
        print(masked(" ".join(f"the archive is unavailable: {error}".split())), flush=True)
        return FAILED
    print(
        f"joined {tidied.merged_files} files to {tidied.into_files}, dropped "
        f"{tidied.dropped_files} of past days, deleted {tidied.deleted_files} that nobody names",
        flush=True,
    )
    return 0


class _Rounds:
    """Keeps one Spark session for all rounds, begun by the first that has something to do."""

    def __init__(self, found: "Environment", master: str) -> None:
        self._found = found
        self._master = master
        self._open = ExitStack()
        self._round: Callable[[Sequence[str]], Told] | None = None

    def __enter__(self) -> "_Rounds":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, job_ids: Sequence[str]) -> "Told":
        if self._round is None:
            self._round = self._started()
        try:
            return self._round(job_ids)
        except Exception:
            # The next round starts Spark anew: the cluster may have ended the application.
            self._open.close()
            self._round = None
            raise

    def _started(self) -> Callable[[Sequence[str]], "Told"]:
        from dashboard.history.archive import Place
        from dashboard.history.spark.archiver import archive_jobs
        from dashboard.history.spark.session import session

        assert self._found.archive is not None
        place = Place(self._found.archive, self._found.archive_options)
        spark = self._open.enter_context(session("curtail archive", self._master))
        return lambda job_ids: archive_jobs(
            spark, self._found.redis_url, place, job_ids, lambda line: say(masked(line))
        )

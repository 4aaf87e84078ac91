"""Runs one analysis in this process, which is never the worker's own: it starts a JVM.

The report is worth more than its record: without a database it is made all the same, and told.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser

from django.conf import settings
from django.db import DatabaseError, connection

from dashboard.analysis import analyses
from dashboard.analysis.switches import switches
from dashboard.history.analysis.report import Report
from dashboard.history.archive import Archive, ArchiveUnavailable, Place
from techniques.analysis.effects import Switch

Progress = Callable[[int, int], None]
Say = Callable[[str], None]


class CannotAnalyse(Exception):
    """The analysis was not made; says why."""


@dataclass(frozen=True)
class Asked:
    """`jobs` empty means all jobs of the archive."""

    start_ms: int
    end_ms: int
    jobs: tuple[str, ...]
    master: str


def perform(asked: Asked, analysis_id: int | None, progress: Progress, say: Say) -> Report:
    """Runs what is asked, or what the analysis `analysis_id` asks, and keeps its record."""
    kept = _recorded(asked, say) if analysis_id is None else analysis_id
    if kept is not None:
        analysis = analyses.begin(kept)
        if analysis is None:
            raise CannotAnalyse(f"analysis {kept} does not wait to be run")
        asked = Asked(analysis.start_ms, analysis.end_ms, tuple(analysis.jobs), asked.master)
    try:
        with _beating(kept):
            report = _analyse(asked, kept, progress)
    except BaseException as error:
        if kept is not None:
            why = str(error) or type(error).__name__
            analyses.fail(kept, why if isinstance(error, CannotAnalyse) else f"stopped: {why}")
        raise
    if kept is not None:
        analyses.finish(kept, report)
    return report


def _recorded(asked: Asked, say: Say) -> int | None:
    try:
        return analyses.ask(_who(), asked.start_ms, asked.end_ms, asked.jobs).pk
    except DatabaseError as error:
        say(f"the report will not be kept, since the database cannot be used: {error}")
        return None


def _who() -> str:
    try:
        return f"{getuser()} (terminal)"
    except (KeyError, OSError):
        return "terminal"


def _analyse(asked: Asked, kept: int | None, progress: Progress) -> Report:
    # Here, so that a process that only reads analyses needs no PySpark.
    try:
        from dashboard.history.spark.analysis import analyse_jobs
        from dashboard.history.spark.session import session
    except ImportError as error:
        raise CannotAnalyse(f"the analysis runs on PySpark, which is missing: {error}") from error

    if settings.ARCHIVE is None:
        raise CannotAnalyse("CURTAIL_ARCHIVE is off: there is no history to analyse")
    place = Place(settings.ARCHIVE, settings.ARCHIVE_OPTIONS)
    job_ids = _job_ids(Archive(place), asked)

    def tell(done: int, total: int) -> None:
        progress(done, total)
        if kept is not None:
            analyses.progress(kept, done, total)

    try:
        with session("curtail analyze", asked.master) as spark:
            return analyse_jobs(
                spark, place, job_ids, asked.start_ms, asked.end_ms, _switches(job_ids, asked), tell
            )
    except ArchiveUnavailable as error:
        raise CannotAnalyse(str(error)) from error
    except (OSError, RuntimeError) as error:
        raise CannotAnalyse(f"Spark cannot run: {type(error).__name__}: {error}") from error


def _job_ids(archive: Archive, asked: Asked) -> list[str]:
    try:
        archived = archive.jobs(asked.start_ms, asked.end_ms)
    except ArchiveUnavailable as error:
        raise CannotAnalyse(f"the archive cannot be read: {error}") from error
    if unknown := sorted(set(asked.jobs) - set(archived)):
        raise CannotAnalyse(f"the archive has nothing of {', '.join(unknown)} in this range")
    if not archived:
        raise CannotAnalyse("the archive has no job in this range")
    return sorted(asked.jobs) or archived


def _switches(job_ids: list[str], asked: Asked) -> dict[str, list[Switch]]:
    try:
        return switches(job_ids, asked.start_ms, asked.end_ms)
    except DatabaseError:
        return {}


@contextmanager
def _beating(kept: int | None) -> Iterator[None]:
    """Renews the record's beat from a thread, however long a single job takes."""
    over = threading.Event()

    def beats() -> None:
        while not over.wait(analyses.BEAT_S):
            # A database that is away for a while is no reason to stop.
            try:
                analyses.beat(kept or 0)
            except DatabaseError:
                connection.close()
        connection.close()

    thread = threading.Thread(target=beats, name="curtail-beat", daemon=True)
    if kept is not None:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if kept is not None:
            thread.join()

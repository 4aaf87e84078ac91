"""Whether a job runs, and how announcements become database rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from channels.layers import get_channel_layer
from django.db import connection, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from collectors.formats.announcement import Announcement
from dashboard.models import Job, Run

JOBS_GROUP = "jobs"
# Heartbeats come every second: five missed is not a hiccup.
STALE_AFTER_MS = 5_000

RUNNING, STALE, ENDED, FAILED = "running", "stale", "ended", "failed"


@dataclass(frozen=True)
class Beat:
    """The last heartbeat of a job, and its end if it has ended."""

    at_ms: int
    ended_ms: int = 0
    end_reason: str = ""

    @classmethod
    def newest(cls, job: Job, run: Run | None, announced: Announcement | None) -> "Beat":
        """Prefers the announcement: rows are written at most once a second and may be older."""
        if announced and announced.heartbeat_ms >= job.last_seen_ms:
            return cls(announced.heartbeat_ms, announced.ended_ms, announced.end_reason)
        if run is None:
            return cls(job.last_seen_ms)
        return cls(job.last_seen_ms, run.ended_ms or 0, run.end_reason)

    def state(self, now_ms: int) -> str:
        if self.ended_ms:
            # Spark gives a reason only for a query that threw.
            return FAILED if self.end_reason else ENDED
        return RUNNING if now_ms - self.at_ms < STALE_AFTER_MS else STALE


def newest_runs(**of: Any) -> QuerySet[Run]:
    """The last run of every job, if that run matches the filter `of`."""
    newest = Run.objects.filter(job=OuterRef("job")).order_by("-started_ms", "-pk")
    return Run.objects.filter(**of, pk=Subquery(newest.values("pk")[:1]))


def record(announcements: Iterable[Announcement]) -> bool:
    """Writes what is new; true if a page would show a change other than the heartbeat."""
    news: list[Announcement] = []
    jobs, runs = Job.objects.in_bulk(), {run.job_id: run for run in newest_runs()}
    beating: list[tuple[Run, int]] = []
    for announced in announcements:
        job, run = jobs.get(announced.job_id), runs.get(announced.job_id)
        if job and job.last_seen_ms >= announced.heartbeat_ms:
            continue
        if job is None or run is None or _is_news(job, run, announced):
            news.append(announced)
        else:
            beating.append((run, announced.heartbeat_ms))
    # Of hundreds of jobs, almost all have only a new heartbeat: those are written together.
    with transaction.atomic():
        _seen(Job, [(ms, run.job_id) for run, ms in beating])
        _seen(Run, [(ms, run.pk) for run, ms in beating])
    for announced in news:
        _write(announced)
    return bool(news)


def _seen(model: type[Job] | type[Run], beats: list[tuple[int, Any]]) -> None:
    """Writes heartbeats with `executemany`: a `bulk_update` takes ten times as long."""
    if not beats:
        return
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET last_seen_ms = %s WHERE id = %s", beats)


def _write(announced: Announcement) -> None:
    named = {
        "application": announced.application,
        "query": announced.query,
        "last_seen_ms": announced.heartbeat_ms,
    }
    job, _ = Job.objects.update_or_create(
        id=announced.job_id,
        defaults=named,
        create_defaults={**named, "first_seen_ms": announced.heartbeat_ms},
    )
    Run.objects.update_or_create(
        job=job,
        run_id=announced.run_id,
        defaults={
            "application_id": announced.application_id,
            "spark_version": announced.spark_version,
            "driver_host": announced.driver_host,
            "started_ms": announced.started_ms,
            "last_seen_ms": announced.heartbeat_ms,
            "ended_ms": announced.ended_ms or None,
            "end_reason": announced.end_reason,
        },
    )


async def tell_pages() -> None:
    layer = get_channel_layer()
    assert layer is not None  # settings.CHANNEL_LAYERS has a default
    await layer.group_send(JOBS_GROUP, {"type": "jobs.changed"})


def _is_news(job: Job, run: Run, announced: Announcement) -> bool:
    return (
        run.run_id != announced.run_id
        or (run.ended_ms or 0) != announced.ended_ms
        or announced.heartbeat_ms - job.last_seen_ms >= STALE_AFTER_MS
    )

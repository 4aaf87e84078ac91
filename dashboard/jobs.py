"""Jobs as the API and the live list show them, and how announcements become records."""

from collections.abc import Iterable
from typing import Any

from channels.layers import get_channel_layer

from collectors.announcement import Announcement
from dashboard.models import Job, Run

JOBS_GROUP = "jobs"
# Heartbeats come every second: five missed is not a hiccup.
STALE_AFTER_MS = 5_000


def state(job: Job, now_ms: int) -> str:
    run = _latest(job)
    if run and run.ended_ms:
        return "stopped"
    return "running" if now_ms - job.last_seen_ms < STALE_AFTER_MS else "stale"


def as_dict(job: Job, now_ms: int) -> dict[str, Any]:
    run = _latest(job)
    return {
        "id": job.id,
        "application": job.application,
        "query": job.query,
        "state": state(job, now_ms),
        "first_seen_ms": job.first_seen_ms,
        "last_seen_ms": job.last_seen_ms,
        "run": run
        and {
            "run_id": run.run_id,
            "application_id": run.application_id,
            "spark_version": run.spark_version,
            "driver_host": run.driver_host,
            "started_ms": run.started_ms,
            "ended_ms": run.ended_ms,
            "end_reason": run.end_reason,
        },
    }


async def job_list() -> list[Job]:
    return [job async for job in Job.objects.prefetch_related("runs")]


def record(announcements: Iterable[Announcement]) -> bool:
    """Writes what is new; true where a page would show something else than its clock."""
    changed = False
    known = {job.id: job for job in Job.objects.prefetch_related("runs")}
    for announced in announcements:
        job = known.get(announced.job_id)
        if job and job.last_seen_ms >= announced.heartbeat_ms:
            continue
        changed |= _is_news(job, announced)
        job, _ = Job.objects.update_or_create(
            id=announced.job_id,
            defaults={
                "application": announced.application,
                "query": announced.query,
                "last_seen_ms": announced.heartbeat_ms,
            },
            create_defaults={
                "application": announced.application,
                "query": announced.query,
                "first_seen_ms": announced.heartbeat_ms,
                "last_seen_ms": announced.heartbeat_ms,
            },
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
    return changed


async def tell_pages() -> None:
    layer = get_channel_layer()
    assert layer is not None  # settings.CHANNEL_LAYERS has a default
    await layer.group_send(JOBS_GROUP, {"type": "jobs.changed"})


def _is_news(job: Job | None, announced: Announcement) -> bool:
    run = _latest(job) if job else None
    return (
        job is None
        or run is None
        or run.run_id != announced.run_id
        or (run.ended_ms or 0) != announced.ended_ms
        or announced.heartbeat_ms - job.last_seen_ms >= STALE_AFTER_MS
    )


def _latest(job: Job) -> Run | None:
    # `runs` is ordered newest first and prefetched by whoever lists jobs.
    runs = list(job.runs.all())
    return runs[0] if runs else None

"""The periodic tasks of the workers."""

import asyncio
import logging
import time
from contextlib import suppress

from celery.signals import worker_process_shutdown
from django.conf import settings

from collectors.formats.announcement import Announcement
from dashboard.alerts.delivery import the_courier
from dashboard.analysis import process
from dashboard.celery_app import app
from dashboard.detection.rounds import the_detection
from dashboard.fleet import jobs
from dashboard.models import AlertEvent, Analysis, Incident, Job, Run, TechniqueDecision
from dashboard.slo import hours
from dashboard.slo.history_rounds import the_history_judge
from dashboard.slo.rounds import the_judge
from dashboard.steering.rounds import the_steering
from dashboard.store import StoreUnavailable, the_store
from dashboard.web.health import BEAT_LASTS_S
from dashboard.worker import loop
from dashboard.worker.archiving import the_archiving
from dashboard.worker.job_leases import the_leases

log = logging.getLogger(__name__)

DAY_MS = 86_400_000


@app.task
def register_jobs() -> None:
    """Writes the jobs announced in Redis to the database and notifies pages. Then evaluates SLOs
    from the same announcements, because reading them takes longer than both."""
    store, judge = the_store(), the_judge()

    async def announcements() -> list[Announcement]:
        try:
            await store.beat(BEAT_LASTS_S)
            return list(await store.announcements())
        finally:
            await store.close()

    try:
        announced = asyncio.run(announcements())
    except StoreUnavailable as error:
        log.warning("jobs cannot be registered now: %s", error)
        judge.store_away()
        return
    if jobs.record(announced):
        asyncio.run(jobs.tell_pages())
    judge.round(announced, time.time_ns() // 1_000_000)


@app.task
def look_after_jobs() -> None:
    """Reads what this worker's jobs sent, finds incidents in it, judges it by SLOs, and then steers
    by it: in this order, so that decisions see the newest windows."""
    _detect()
    _judge()
    _steer()


def _detect() -> None:
    try:
        the_detection().round(the_store(), time.time_ns() // 1_000_000)
    except StoreUnavailable as error:
        log.warning("incidents cannot be detected now: %s", error)
    except Exception:
        # Steering must run all the same: without renewal, settings of jobs end with their lease.
        log.exception("the round of detection stumbled")


def _judge() -> None:
    try:
        the_history_judge().round()
    except Exception:
        log.exception("the round of SLOs stumbled")


def _steer() -> None:
    try:
        the_steering().round(the_store(), time.time_ns() // 1_000_000)
    except StoreUnavailable as error:
        log.warning("jobs cannot be steered now: %s", error)


@app.task
def steer_job(job_id: str) -> None:
    """Steers a job that an operator has just changed, without waiting for the next tick."""
    try:
        the_steering().job(the_store(), job_id, time.time_ns() // 1_000_000)
    except StoreUnavailable as error:
        log.warning("%s cannot be steered now: %s", job_id, error)


@worker_process_shutdown.connect
def let_go(**_: object) -> None:
    """Releases this worker's leases, so that others take its jobs before they expire."""
    with suppress(StoreUnavailable):
        loop.run(the_leases().let_go(the_store()))
    the_archiving().stop()


@app.task
def deliver_alerts() -> None:
    """Sends due alerts in threads of this process; the tick does not wait for them."""
    the_courier().round()


@app.task
def run_analysis(analysis_id: int) -> None:
    """Starts the process of an analysis that was asked for; does not wait for it."""
    process.start(analysis_id)


@app.task
def look_after_archive() -> None:
    """Starts the archiver and its upkeep when they are due; the tick does not wait for them."""
    if settings.ARCHIVE is None:
        return
    try:
        the_archiving().tick(the_store())
    except StoreUnavailable as error:
        log.warning("the archive cannot be looked after now: %s", error)


@app.task
def forget_old_records() -> None:
    """Deletes records that are older than RECORD_RETENTION_DAYS."""
    long_ago_ms = time.time_ns() // 1_000_000 - settings.RECORD_RETENTION_DAYS * DAY_MS
    runs, _ = Run.objects.filter(last_seen_ms__lt=long_ago_ms).delete()
    incidents, _ = Incident.objects.filter(end_ms__lt=long_ago_ms).delete()
    gone, _ = Job.objects.filter(last_seen_ms__lt=long_ago_ms).delete()
    TechniqueDecision.objects.filter(at_ms__lt=long_ago_ms).delete()
    AlertEvent.objects.filter(at_ms__lt=long_ago_ms).delete()
    Analysis.objects.filter(asked_ms__lt=long_ago_ms).delete()
    hours.forget(time.time_ns() // 1_000_000)
    if runs or incidents or gone:
        log.info("forgot %d runs, %d incidents and %d jobs", runs, incidents, gone)

import pytest

from dashboard import jobs
from dashboard.models import Job, Run
from tests.made import ANNOUNCEMENT, START_MS, announcement

pytestmark = pytest.mark.django_db

BEAT_MS = ANNOUNCEMENT.heartbeat_ms


def only() -> Job:
    return Job.objects.prefetch_related("runs").get()


def test_an_announced_job_becomes_a_record_with_its_run() -> None:
    assert jobs.record([ANNOUNCEMENT])
    shown = jobs.as_dict(only(), BEAT_MS)
    assert (shown["id"], shown["state"]) == ("orders.scored", "running")
    assert shown["run"]["spark_version"] == "4.3.0"
    assert shown["run"]["ended_ms"] is None


def test_a_heartbeat_is_no_news_but_moves_the_clock() -> None:
    jobs.record([ANNOUNCEMENT])
    assert not jobs.record([announcement(heartbeat_ms=BEAT_MS + 1_000)])
    assert only().last_seen_ms == BEAT_MS + 1_000
    assert only().first_seen_ms == BEAT_MS


def test_an_old_heartbeat_changes_nothing() -> None:
    jobs.record([announcement(heartbeat_ms=BEAT_MS + 5)])
    assert not jobs.record([ANNOUNCEMENT])
    assert only().last_seen_ms == BEAT_MS + 5


def test_a_job_that_fell_silent_is_stale_and_its_return_is_news() -> None:
    jobs.record([ANNOUNCEMENT])
    assert jobs.state(only(), BEAT_MS + jobs.STALE_AFTER_MS - 1) == "running"
    assert jobs.state(only(), BEAT_MS + jobs.STALE_AFTER_MS) == "stale"
    assert jobs.record([announcement(heartbeat_ms=BEAT_MS + 60_000)])


def test_an_ended_run_is_stopped_and_not_stale() -> None:
    jobs.record([ANNOUNCEMENT])
    ended = announcement(heartbeat_ms=BEAT_MS + 9, ended_ms=BEAT_MS + 8, end_reason="boom")
    assert jobs.record([ended])
    shown = jobs.as_dict(only(), BEAT_MS + 100_000)
    assert shown["state"] == "stopped"
    assert shown["run"]["end_reason"] == "boom"


def test_a_restart_is_a_new_run_of_the_same_job() -> None:
    jobs.record([ANNOUNCEMENT])
    again = announcement(run_id="r2", started_ms=START_MS + 99, heartbeat_ms=BEAT_MS + 99)
    assert jobs.record([again])
    assert Run.objects.count() == 2
    assert jobs.as_dict(only(), BEAT_MS + 99)["run"]["run_id"] == "r2"

from dataclasses import replace
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from dashboard.fleet import job_list, job_summary, jobs
from dashboard.fleet.job_summary import Told
from dashboard.models import Job, Run
from tests.factories import ANNOUNCEMENT, START_MS, announcement

pytestmark = pytest.mark.django_db

BEAT_MS = ANNOUNCEMENT.heartbeat_ms


def only() -> Job:
    return Job.objects.get()


def shown(now_ms: int) -> dict[str, Any]:
    (member,) = job_list.read(now_ms)
    return job_summary.as_dict(member, None, now_ms)


def test_an_announced_job_becomes_a_record_with_its_run() -> None:
    assert jobs.record([ANNOUNCEMENT])
    job = shown(BEAT_MS)
    assert (job["id"], job["state"]) == ("orders.scored", "running")
    assert job["run"]["spark_version"] == "4.3.0"
    assert job["run"]["ended_ms"] is None


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
    assert shown(BEAT_MS + jobs.STALE_AFTER_MS - 1)["state"] == "running"
    assert shown(BEAT_MS + jobs.STALE_AFTER_MS)["state"] == "stale"
    assert jobs.record([announcement(heartbeat_ms=BEAT_MS + 60_000)])


@pytest.mark.parametrize(("reason", "state"), [("", "ended"), ("boom", "failed")])
def test_a_run_that_is_over_is_not_stale(reason: str, state: str) -> None:
    jobs.record([ANNOUNCEMENT])
    over = announcement(heartbeat_ms=BEAT_MS + 9, ended_ms=BEAT_MS + 8, end_reason=reason)
    assert jobs.record([over])
    job = shown(BEAT_MS + 100_000)
    assert job["state"] == state
    assert job["run"]["end_reason"] == reason


def test_a_restart_is_a_new_run_of_the_same_job() -> None:
    jobs.record([ANNOUNCEMENT])
    again = announcement(run_id="r2", started_ms=START_MS + 99, heartbeat_ms=BEAT_MS + 99)
    assert jobs.record([again])
    assert Run.objects.count() == 2
    assert shown(BEAT_MS + 99)["run"]["run_id"] == "r2"


def test_hundreds_of_heartbeats_take_a_handful_of_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    many = [announcement(job_id=f"orders.q{at}", query=f"q{at}") for at in range(300)]
    assert jobs.record(many)
    later = [replace(each, heartbeat_ms=BEAT_MS + 1_000) for each in many]
    with django_assert_max_num_queries(12):
        assert not jobs.record(later)
    assert set(Job.objects.values_list("last_seen_ms", flat=True)) == {BEAT_MS + 1_000}
    assert set(Run.objects.values_list("last_seen_ms", flat=True)) == {BEAT_MS + 1_000}


def test_what_a_job_says_itself_is_newer_than_its_record() -> None:
    jobs.record([ANNOUNCEMENT])
    (member,) = job_list.read(BEAT_MS)
    said = Told.of(announcement(heartbeat_ms=BEAT_MS + 60_000))
    job = job_summary.as_dict(member, said, BEAT_MS + 60_001)
    assert (job["state"], job["last_seen_ms"]) == ("running", BEAT_MS + 60_000)
    over = Told.of(announcement(heartbeat_ms=BEAT_MS + 60_000, ended_ms=BEAT_MS + 60_000))
    assert job_summary.as_dict(member, over, BEAT_MS + 60_001)["state"] == "ended"

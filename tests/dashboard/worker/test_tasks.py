import time

import pytest
from pytest_django.fixtures import Settings
from redis import Redis

from collectors.formats import keys
from collectors.formats.announcement import to_hash
from dashboard.alerts.delivery import Courier, the_courier
from dashboard.alerts.outbox import enqueue
from dashboard.celery_app import app
from dashboard.detection.rounds import Detection
from dashboard.fleet import jobs
from dashboard.models import AlertEvent, Delivery, Incident, Job, Run
from dashboard.steering.rounds import Steering
from dashboard.store import the_store
from dashboard.tasks import DAY_MS, forget_old_records, look_after_jobs, register_jobs
from dashboard.testing.stack import RedisServer
from dashboard.web.health import BEAT_LASTS_S
from tests.dashboard.alerts.made import OPENED, endpoint
from tests.factories import ANNOUNCEMENT, announcement

pytestmark = pytest.mark.django_db


@pytest.fixture
def on_redis(redis: RedisServer, settings: Settings) -> RedisServer:
    settings.REDIS_URL = redis.url
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    the_store.cache_clear()
    return redis


def test_jobs_in_redis_become_records(on_redis: RedisServer) -> None:
    client = Redis.from_url(on_redis.url)
    client.hset(keys.job(ANNOUNCEMENT.job_id), mapping=to_hash(ANNOUNCEMENT))  # type: ignore[arg-type]
    client.zadd(keys.JOBS, {ANNOUNCEMENT.job_id: 1})
    register_jobs()
    assert Job.objects.get().id == ANNOUNCEMENT.job_id


def test_a_worker_says_that_it_works(on_redis: RedisServer) -> None:
    register_jobs()
    assert 0 < Redis.from_url(on_redis.url).ttl("curtail:worker") <= BEAT_LASTS_S


def test_a_redis_that_is_away_is_said_and_the_task_ends(
    on_redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    on_redis.stop()
    register_jobs()
    assert "cannot be registered now" in caplog.text


def test_jobs_are_steered_after_incidents_were_looked_for_whatever_that_threw(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    did: list[str] = []

    def stumbles(*_: object) -> None:
        did.append("detect")
        raise ZeroDivisionError

    monkeypatch.setattr(Detection, "round", stumbles)
    monkeypatch.setattr(Steering, "round", lambda *_: did.append("steer"))
    app.tasks[app.conf.beat_schedule["look-after-jobs"]["task"]]()
    assert did == ["detect", "steer"]
    assert "the round of detection stumbled" in caplog.text


def test_a_redis_that_is_away_ends_the_round_and_the_next_one_goes_on(
    on_redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    on_redis.stop()
    look_after_jobs()
    assert "incidents cannot be detected now" in caplog.text
    on_redis.start()
    caplog.clear()
    look_after_jobs()
    assert not caplog.records


def test_records_older_than_the_retention_are_forgotten(settings: Settings) -> None:
    settings.RECORD_RETENTION_DAYS = 10
    now_ms = time.time_ns() // 1_000_000
    ages_days = {"orders.new": 1, "orders.old": 11}
    for job_id, days in ages_days.items():
        jobs.record([announcement(job_id=job_id, heartbeat_ms=now_ms - days * DAY_MS)])
    old_run = announcement(job_id="orders.new", run_id="old", heartbeat_ms=now_ms)
    jobs.record([old_run])
    Run.objects.filter(run_id="old").update(last_seen_ms=now_ms - 11 * DAY_MS)
    for end_ms in (now_ms - 11 * DAY_MS, now_ms - DAY_MS, None):
        Incident.objects.create(job_id="orders.new", kind="gc", onset_ms=0, end_ms=end_ms)
    forget_old_records()
    assert {each.end_ms for each in Incident.objects.all()} == {now_ms - DAY_MS, None}
    assert [job.id for job in Job.objects.all()] == ["orders.new"]
    assert [run.run_id for run in Run.objects.all()] == [ANNOUNCEMENT.run_id]


def test_alerts_older_than_the_retention_are_forgotten_with_their_deliveries() -> None:
    now_ms = time.time_ns() // 1_000_000
    for at_ms in (now_ms, now_ms - 31 * DAY_MS):
        enqueue(OPENED, [endpoint()], at_ms)
    forget_old_records()
    assert [event.at_ms for event in AlertEvent.objects.all()] == [now_ms]
    assert Delivery.objects.count() == 1


def test_what_the_beat_asks_for_every_second_delivers_alerts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds: list[Courier] = []
    monkeypatch.setattr(Courier, "round", lambda courier: rounds.append(courier))
    app.tasks[app.conf.beat_schedule["deliver-alerts"]["task"]]()
    assert rounds == [the_courier()]

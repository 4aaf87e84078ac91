"""From heartbeats in a store to promises broken and kept, and collectors lost, in the outbox."""

import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collectors.formats import keys, wire
from collectors.formats.announcement import Announcement
from collectors.formats.pulse import BIN_MS, Recent
from dashboard.celery_app import app
from dashboard.fleet import jobs
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import AlertEvent, Run, Slo
from dashboard.slo import objectives
from dashboard.slo.lost_jobs import SURE_AFTER_MS
from dashboard.slo.rounds import MOST_READ, Judge, the_judge
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from dashboard.tasks import register_jobs
from techniques.slo.objective import as_data
from tests.dashboard.alerts.made import endpoint
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement, frame, p99_objective

pytestmark = pytest.mark.django_db(transaction=True)

JOB = ANNOUNCEMENT.job_id
PROMISED_MS = 500.0
# START_MS lies within a bin; the clock of these tests begins with one.
BEGIN_MS = START_MS // BIN_MS * BIN_MS


@dataclass
class World:
    store: MemoryStore
    judge: Judge = field(default_factory=Judge)
    now_ms: int = BEGIN_MS
    bins: list[int | None] = field(default_factory=list)

    def bin(
        self,
        p99_ms: float | None,
        latencies_ms: tuple[int, ...] = (),
        rounds: int = 1,
        warming_up: bool = False,
    ) -> None:
        """Ten seconds of the job: its heartbeat tells `p99_ms`, its frames hold the latencies."""
        for ms in latencies_ms:
            at = (self.now_ms - START_MS) // 50
            sent = frame(at, (ms,), warming_up=warming_up)
            self.store.append(keys.frames(JOB), self.now_ms, wire.encode(sent))
            self.now_ms += 50
        self.now_ms += BIN_MS - 50 * len(latencies_ms)
        self.bins.append(None if p99_ms is None else round(p99_ms * 1000))
        self.beat()
        for _ in range(rounds):
            self.round()

    def beat(self, **changes: Any) -> None:
        recent = Recent(self.now_ms - BIN_MS, tuple(self.bins))
        pulse = type(PULSE)(recent=recent)
        said = announcement(heartbeat_ms=self.now_ms, pulse=pulse, **changes)
        self.store.announce(said)
        jobs.record([said])

    def round(self) -> None:
        said = async_to_sync(self.store.announcements)()
        self.judge.round(self.store, said, self.now_ms)

    def told(self) -> list[tuple[str, str]]:
        return [(each.type, each.event["severity"]) for each in AlertEvent.objects.all()]


@pytest.fixture
def world(memory_store: MemoryStore) -> World:
    endpoint()
    made = World(memory_store)
    made.beat()
    objectives.put(JOB, p99_objective(PROMISED_MS), 0, "olga", "")
    return made


SLOW = (100,) * 20 + (800,) * 20
CALM = (100,) * 40


def test_a_promise_is_violated_after_two_judgements_and_told_once(world: World) -> None:
    world.bin(100, CALM)
    world.bin(800, SLOW, rounds=3)
    assert world.told() == []
    world.bin(800, SLOW, rounds=3)
    world.bin(800, SLOW)
    assert world.told() == [("slo.violated", "warning")]
    event = AlertEvent.objects.get().event
    assert (event["kind"], event["link"]) == ("slo", f"/jobs/{JOB}")
    assert event["onset_ms"] == BEGIN_MS + BIN_MS
    assert event["evidence"]["objective"] == as_data(p99_objective(PROMISED_MS))
    assert event["evidence"]["p99_ms"] == pytest.approx(800, rel=0.01)


def test_twice_the_promise_is_critical(world: World) -> None:
    for _ in range(2):
        world.bin(1_000, (1_100,) * 40)
    assert world.told() == [("slo.violated", "critical")]


def test_a_bin_above_it_in_a_minute_that_is_not_is_no_violation(world: World) -> None:
    for _ in range(2):
        world.bin(100, (100,) * 200)
    # One record of 400 is no p99 of the minute, though it is that of its own ten seconds.
    for _ in range(3):
        world.bin(800, (800,))
        assert Slo.objects.get().above == 0
    assert world.told() == []


def test_it_is_restored_after_a_minute_below_and_told_once(world: World) -> None:
    for _ in range(2):
        world.bin(800, SLOW)
    violated_until_ms = world.now_ms
    for _ in range(5):
        world.bin(100, CALM)
    assert world.told() == [("slo.violated", "warning")]
    for _ in range(3):
        world.bin(100, CALM)
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]
    event = AlertEvent.objects.last()
    assert event
    assert event.event["end_ms"] == violated_until_ms
    assert event.event["onset_ms"] == BEGIN_MS


def test_what_took_long_while_the_run_warmed_up_breaks_no_promise(world: World) -> None:
    world.bin(None, (20_000,) * 40, warming_up=True)
    for _ in range(3):
        # One of these is above the promise, as a bin is but not the minute.
        world.bin(800, (100,) * 150 + (800,))
    assert world.told() == []


def test_no_data_neither_violates_nor_restores(world: World) -> None:
    world.bin(800, SLOW)
    for _ in range(8):
        world.bin(None)
    assert world.told() == []
    world.bin(800, SLOW)
    assert world.told() == [("slo.violated", "warning")]
    for _ in range(8):
        world.bin(None)
    world.now_ms += 600_000  # and then not even heartbeats
    world.round()
    assert [type_ for type_, _ in world.told() if type_ != "collector.lost"] == ["slo.violated"]


def test_a_worker_that_starts_anew_goes_on_where_the_last_one_was(world: World) -> None:
    world.bin(800, SLOW)
    world.judge = Judge()
    world.bin(800, SLOW)
    assert world.told() == [("slo.violated", "warning")]
    world.judge = Judge()
    world.round()
    for _ in range(7):
        world.judge = Judge()
        world.bin(100, CALM)
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]


def test_two_workers_tell_it_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.bin(800, SLOW)
    # Both have read the same rows before either wrote.
    stale = list(Slo.objects.all())
    world.bin(800, SLOW)
    monkeypatch.setattr(Slo.objects, "filter", _first_answers(Slo.objects.filter, stale))
    world.round()
    assert world.told() == [("slo.violated", "warning")]


def _first_answers(real: Any, rows: list[Slo]) -> Any:
    given: list[list[Slo]] = [rows]
    return lambda **of: given.pop() if given else real(**of)


def test_a_promise_taken_back_while_violated_ends_the_alert(world: World) -> None:
    for _ in range(2):
        world.bin(800, SLOW)
    objectives.put(JOB, None, 1, "olga", "was too strict")
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]
    assert Slo.objects.get().violated_ms is None
    world.bin(800, SLOW)
    assert len(world.told()) == 2


def test_a_promise_that_is_loosened_is_judged_by_its_new_value(world: World) -> None:
    world.bin(800, SLOW)
    objectives.put(JOB, p99_objective(2_000.0), 1, "olga", "")
    for _ in range(3):
        world.bin(800, SLOW)
    assert world.told() == []


def test_filters_by_kind_and_severity_hold_for_promises(world: World) -> None:
    endpoint(name="incidents only", kinds=["straggler"])
    endpoint(name="worst only", least_severity="critical")
    endpoint(name="slos", kinds=["slo"], least_severity="warning")
    for _ in range(2):
        world.bin(800, SLOW)
    for _ in range(7):
        world.bin(100, CALM)
    heard = {
        event.type: [each.endpoint.name for each in event.deliveries.order_by("pk")]
        for event in AlertEvent.objects.all()
    }
    # Who heard of the beginning hears of the end.
    assert heard == {
        "slo.violated": ["on call", "slos"],
        "slo.restored": ["on call", "slos"],
    }


def sure(world: World, **beat: Any) -> None:
    """The worker has been reading for long enough to trust what it reads."""
    for _ in range(SURE_AFTER_MS // 5_000 + 2):
        world.beat(**beat)
        world.round()
        world.now_ms += 5_000 - 1


def test_a_job_that_falls_silent_is_lost_once_and_again_when_it_was_back(world: World) -> None:
    sure(world)
    last_ms = Run.objects.get().last_seen_ms
    world.now_ms = last_ms + STALE_AFTER_MS - 1
    world.round()
    assert world.told() == []
    for _ in range(3):
        world.now_ms += 1_000
        world.round()
    assert world.told() == [("collector.lost", "warning")]
    event = AlertEvent.objects.get().event
    assert (event["kind"], event["onset_ms"]) == ("collector", last_ms)

    world.judge = Judge()
    sure(world)
    assert Run.objects.get().lost_ms is None
    assert len(world.told()) == 1
    world.now_ms += STALE_AFTER_MS
    world.round()
    assert len(world.told()) == 2


def test_a_worker_that_starts_while_a_job_is_gone_tells_it_if_nobody_did(world: World) -> None:
    world.now_ms += 3_600_000
    world.round()
    assert world.told() == []  # it cannot know yet
    for _ in range(4):
        world.now_ms += 5_000
        world.round()
    assert world.told() == [("collector.lost", "warning")]


def test_a_job_that_said_that_it_ended_is_never_lost(world: World) -> None:
    sure(world)
    # The store knows it before the records do.
    world.store.announce(announcement(heartbeat_ms=world.now_ms, ended_ms=world.now_ms))
    for _ in range(5):
        world.now_ms += 5_000
        world.round()
    jobs.record([announcement(heartbeat_ms=world.now_ms, ended_ms=world.now_ms)])
    world.now_ms += 60_000
    world.round()
    assert world.told() == []


def test_a_job_started_anew_is_not_lost_because_its_last_run_is(world: World) -> None:
    sure(world)
    world.now_ms += 20_000
    world.store.announce(announcement(heartbeat_ms=world.now_ms, run_id="another"))
    world.round()
    assert world.told() == []


def test_after_redis_was_away_old_heartbeats_mean_nothing_yet(world: World) -> None:
    sure(world)
    world.judge.store_away()
    world.now_ms += 9_000
    world.round()
    assert world.told() == []
    world.beat()
    sure(world)
    assert world.told() == []


def test_three_hundred_jobs_take_two_queries_and_few_reads(
    memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, now_ms = Judge(), BEGIN_MS + BIN_MS
    names = [f"a.job{number}" for number in range(300)]
    slow = type(PULSE)(recent=Recent(BEGIN_MS, (900_000,)))
    read: list[str] = []
    entries = memory_store.entries

    async def counted(stream: Any, *span: int) -> Any:
        read.append(stream.job_id)
        return await entries(stream, *span)

    def beats() -> list[Announcement]:
        said = [announcement(job_id=name, heartbeat_ms=now_ms, pulse=slow) for name in names]
        jobs.record(said)
        return said

    monkeypatch.setattr(memory_store, "entries", counted)
    said = beats()
    Slo.objects.bulk_create(
        Slo(job_id=name, objective=as_data(p99_objective(PROMISED_MS))) for name in names
    )
    judge.round(memory_store, said, now_ms)
    # All are near their promise at once: they take turns.
    assert len(set(read)) == len(read) == MOST_READ
    Slo.objects.update(objective=as_data(p99_objective(1_000.0)))
    now_ms += SURE_AFTER_MS
    said = beats()
    judge.round(memory_store, said, now_ms)
    with CaptureQueriesContext(connection) as queries:
        judge.round(memory_store, said, now_ms)
    assert len(queries) == 2
    assert len(read) == MOST_READ


def test_the_worker_judges_what_it_has_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[list[str]] = []

    def noted(_judge: Judge, _store: Any, said: list[Announcement], _now_ms: int) -> None:
        rounds.append([each.job_id for each in said])

    monkeypatch.setattr(Judge, "round", noted)
    app.tasks[app.conf.beat_schedule["register-jobs"]["task"]]()
    assert rounds == [[JOB]]


@pytest.mark.parametrize("method", ["announcements", "entries"])
def test_a_redis_that_is_away_is_said_and_nobody_is_lost_for_it(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    method: str,
) -> None:
    async def away(*_: Any) -> None:
        raise StoreUnavailable("connection refused")

    resets: list[Judge] = []
    monkeypatch.setattr(Judge, "store_away", lambda judge: resets.append(judge))
    world.now_ms = time.time_ns() // 1_000_000
    world.bins = [900_000]
    world.beat()
    monkeypatch.setattr(world.store, method, away)
    register_jobs()
    assert "connection refused" in caplog.text
    assert resets == [the_judge()]

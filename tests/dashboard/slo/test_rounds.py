"""From heartbeats in a store to promises broken and kept, and collectors lost, in the outbox."""

import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collectors.formats.announcement import Announcement
from collectors.formats.pulse import BIN_MS, Recent
from dashboard.celery_app import app
from dashboard.fleet import jobs
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import AlertEvent, Run, Slo, SloHour
from dashboard.slo import hours, objectives
from dashboard.slo.lost_jobs import SURE_AFTER_MS
from dashboard.slo.rounds import Judge, the_judge
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from dashboard.tasks import register_jobs
from techniques.slo.objective import as_data
from tests.dashboard.alerts.made import endpoint
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement, p99_objective

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

    def bin(self, p99_ms: float | None, rounds: int = 1) -> None:
        """Ten seconds of the job: its heartbeat tells `p99_ms`."""
        self.now_ms += BIN_MS
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
        self.judge.round(said, self.now_ms)

    def told(self) -> list[tuple[str, str]]:
        return [(each.type, each.event["severity"]) for each in AlertEvent.objects.all()]


@pytest.fixture
def world(memory_store: MemoryStore) -> World:
    endpoint()
    made = World(memory_store)
    made.beat()
    objectives.put(JOB, p99_objective(PROMISED_MS), 0, "olga", "")
    return made


def test_a_promise_is_violated_when_its_budget_burns_and_told_once(world: World) -> None:
    world.bin(100)
    world.bin(800, rounds=3)
    world.bin(812.345, rounds=3)
    assert world.told() == []
    world.bin(820, rounds=3)
    world.bin(800)
    assert world.told() == [("slo.violated", "warning")]
    event = AlertEvent.objects.get().event
    assert (event["kind"], event["link"]) == ("slo", f"/jobs/{JOB}")
    assert event["title"] == "p99 is 820 ms, 500 ms are promised"
    assert event["onset_ms"] == BEGIN_MS + BIN_MS
    assert event["evidence"] == {
        "slo": "p99 of processed records at most 500 ms",
        "latency_ms": 820.0,
        "juice": None,
        "burn_rate": 20.0,
        "window": "fast",
        "objective": as_data(p99_objective(PROMISED_MS)),
    }


def test_twice_the_promise_is_critical(world: World) -> None:
    for _ in range(3):
        world.bin(1_100)
    assert world.told() == [("slo.violated", "critical")]


def test_a_bin_above_it_now_and_then_is_no_violation_and_costs_budget(world: World) -> None:
    for _ in range(3):
        world.bin(800)
        for _ in range(60):
            world.bin(100)
    assert world.told() == []
    budgets = hours.budgets([JOB], world.now_ms)[JOB]
    assert (budgets["1h"].judged, budgets["1h"].missed) == (183, 3)
    assert budgets["1h"].burn_rate == pytest.approx(3 / 183 / 0.01, abs=1e-6)
    assert budgets["1h"].left == 0


def test_it_is_restored_after_a_minute_below_and_told_once(world: World) -> None:
    for _ in range(3):
        world.bin(800)
    violated_until_ms = world.now_ms
    for _ in range(5):
        world.bin(100)
    assert world.told() == [("slo.violated", "warning")]
    for _ in range(3):
        world.bin(100)
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]
    event = AlertEvent.objects.last()
    assert event
    assert event.event["end_ms"] == violated_until_ms
    assert event.event["onset_ms"] == BEGIN_MS


def test_no_data_neither_violates_nor_restores(world: World) -> None:
    world.bin(800)
    world.bin(800)
    for _ in range(8):
        world.bin(None)
    assert world.told() == []
    world.bin(800)
    assert world.told() == [("slo.violated", "warning")]
    for _ in range(8):
        world.bin(None)
    world.now_ms += 600_000  # and then not even heartbeats
    world.round()
    assert [type_ for type_, _ in world.told() if type_ != "collector.lost"] == ["slo.violated"]


def test_a_worker_that_starts_anew_goes_on_where_the_last_one_was(world: World) -> None:
    for _ in range(3):
        world.judge = Judge()
        world.bin(800)
    assert world.told() == [("slo.violated", "warning")]
    world.judge = Judge()
    world.round()
    for _ in range(7):
        world.judge = Judge()
        world.bin(100)
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]


def test_bins_that_no_worker_was_there_for_are_judged_later_from_one_heartbeat(
    world: World,
) -> None:
    world.bin(100)
    for _ in range(4):
        world.bin(800, rounds=0)
    world.bin(900)
    assert Slo.objects.get().outcomes == "011111"
    assert world.told() == [("slo.violated", "warning")]
    assert hours.budgets([JOB], world.now_ms)[JOB]["1h"].missed == 5


def test_two_workers_tell_it_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.bin(800)
    world.bin(800)
    # Both have read the same rows before either wrote.
    stale = list(Slo.objects.all())
    world.bin(800)
    monkeypatch.setattr(Slo.objects, "filter", _first_answers(Slo.objects.filter, stale))
    world.round()
    assert world.told() == [("slo.violated", "warning")]
    assert hours.budgets([JOB], world.now_ms)[JOB]["1h"].missed == 3


def _first_answers(real: Any, rows: list[Slo]) -> Any:
    given: list[list[Slo]] = [rows]
    return lambda **of: given.pop() if given else real(**of)


def test_a_promise_taken_back_while_violated_ends_the_alert(world: World) -> None:
    for _ in range(3):
        world.bin(800)
    objectives.put(JOB, None, 1, "olga", "was too strict")
    assert world.told() == [("slo.violated", "warning"), ("slo.restored", "info")]
    assert Slo.objects.get().violated_ms is None
    for _ in range(3):
        world.bin(800)
    assert len(world.told()) == 2


def test_a_promise_that_is_loosened_is_judged_by_its_new_value_with_a_whole_budget(
    world: World,
) -> None:
    world.bin(800)
    world.bin(800)
    objectives.put(JOB, p99_objective(2_000.0), 1, "olga", "")
    for _ in range(3):
        world.bin(800)
    assert world.told() == []
    told = hours.budgets([JOB], world.now_ms)[JOB]["1d"]
    assert (told.judged, told.missed, told.left) == (3, 0, 1)


def test_filters_by_kind_and_severity_hold_for_promises(world: World) -> None:
    endpoint(name="incidents only", kinds=["straggler"])
    endpoint(name="worst only", least_severity="critical")
    endpoint(name="slos", kinds=["slo"], least_severity="warning")
    for _ in range(3):
        world.bin(800)
    for _ in range(7):
        world.bin(100)
    heard = {
        event.type: [each.endpoint.name for each in event.deliveries.order_by("pk")]
        for event in AlertEvent.objects.all()
    }
    # Who heard of the beginning hears of the end.
    assert heard == {
        "slo.violated": ["on call", "slos"],
        "slo.restored": ["on call", "slos"],
    }


def test_what_is_kept_of_utilities_and_outcomes_is_a_day(world: World) -> None:
    world.bin(1_000)
    first_ms = SloHour.objects.get().start_ms
    for _ in range(30):
        world.now_ms += hours.HOUR_MS
        world.bins = []
        world.bin(100)
    kept = list(SloHour.objects.order_by("start_ms").values_list("start_ms", flat=True))
    assert len(kept) <= 26
    assert kept[0] > first_ms
    end_ms = world.now_ms // BIN_MS * BIN_MS
    worth = hours.utilities([JOB, "another.job"], end_ms - 3 * BIN_MS, end_ms)
    assert worth == {JOB: [None, None, 35.0], "another.job": [None, None, None]}
    hours.forget(world.now_ms + hours.DAY_MS + 2 * hours.HOUR_MS)
    assert not SloHour.objects.exists()


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


def test_between_bins_three_hundred_jobs_take_two_queries_and_no_frames(
    memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, now_ms = Judge(), BEGIN_MS + BIN_MS
    names = [f"a.job{number}" for number in range(300)]
    slow = type(PULSE)(recent=Recent(BEGIN_MS, (900_000,)))

    async def refused(*_: Any) -> None:
        raise AssertionError("frames were read")

    def beats() -> list[Announcement]:
        said = [announcement(job_id=name, heartbeat_ms=now_ms, pulse=slow) for name in names]
        jobs.record(said)
        return said

    monkeypatch.setattr(memory_store, "entries", refused)
    said = beats()
    objective = as_data(p99_objective(PROMISED_MS))
    Slo.objects.bulk_create(Slo(job_id=name, objective=objective) for name in names)
    judge.round(said, now_ms)
    assert set(Slo.objects.values_list("outcomes", flat=True)) == {"1"}
    now_ms += SURE_AFTER_MS
    said = beats()
    judge.round(said, now_ms)
    with CaptureQueriesContext(connection) as queries:
        judge.round(said, now_ms)
    assert len(queries) == 2


def test_the_worker_judges_what_it_has_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[list[str]] = []

    def noted(_judge: Judge, said: list[Announcement], _now_ms: int) -> None:
        rounds.append([each.job_id for each in said])

    monkeypatch.setattr(Judge, "round", noted)
    app.tasks[app.conf.beat_schedule["register-jobs"]["task"]]()
    assert rounds == [[JOB]]


def test_a_redis_that_is_away_is_said_and_nobody_is_lost_for_it(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def away(*_: Any) -> None:
        raise StoreUnavailable("connection refused")

    resets: list[Judge] = []
    monkeypatch.setattr(Judge, "store_away", lambda judge: resets.append(judge))
    world.now_ms = time.time_ns() // 1_000_000
    world.bins = [900_000]
    world.beat()
    monkeypatch.setattr(world.store, "announcements", away)
    register_jobs()
    assert "connection refused" in caplog.text
    assert resets == [the_judge()]

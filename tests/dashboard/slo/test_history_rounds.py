"""SLOs that heartbeats do not carry: from a job's frames to its judgement."""

from dataclasses import dataclass, field

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collectors.formats import keys, wire
from collectors.formats.buckets import Histogram
from collectors.formats.pulse import BIN_MS
from collectors.formats.wire import WINDOW_MS
from dashboard.fleet import jobs
from dashboard.models import AlertEvent, Slo
from dashboard.slo import objectives
from dashboard.slo.current import current
from dashboard.slo.history_rounds import HistoryJudge
from dashboard.store.memory import MemoryStore
from dashboard.worker import loop
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Statistic
from techniques.view import View
from tests.dashboard.alerts.made import endpoint
from tests.factories import ANNOUNCEMENT, START_MS, frame, p99_objective

pytestmark = pytest.mark.django_db(transaction=True)

JOB = ANNOUNCEMENT.job_id
# Longer than a test takes on a busy machine: nobody renews.
LASTING_MS = 600_000
COMMITTED = Objective(LatencyTarget(500.0, Statistic.MEAN))


@dataclass
class World:
    store: MemoryStore
    leases: Leases = field(default_factory=lambda: Leases("a worker", LASTING_MS))
    histories: Histories = field(default_factory=lambda: Histories(objectives=current))
    juice: float | None = 1.0
    asked_juice: int = 0
    now_ms: int = -(-START_MS // BIN_MS) * BIN_MS

    def __post_init__(self) -> None:
        jobs.record([ANNOUNCEMENT])
        endpoint()
        loop.run(self.leases.renew(self.store))
        self.judge = HistoryJudge(self.leases, self.histories, self._juice)

    def bin(self, committed_ms: int) -> None:
        """Ten seconds of the job, with a second in which they are known to be complete."""
        at = (self.now_ms - START_MS) // WINDOW_MS
        for number in (at, at + 100, at + 220):
            told = Histogram.of([committed_ms * 1000] if number < at + 200 else [])
            sent = frame(number, (1,), committed=told)
            self.store.append(keys.frames(JOB), sent.start_ms, wire.encode(sent))
        self.now_ms += BIN_MS
        self.round()

    def round(self) -> None:
        self.histories.read(self.store, [JOB], self.now_ms + 1_000)
        self.judge.round()

    def _juice(self, _view: View) -> float | None:
        self.asked_juice += 1
        return self.juice


@pytest.fixture
def world(memory_store: MemoryStore) -> World:
    return World(memory_store)


def told() -> list[str]:
    return list(AlertEvent.objects.values_list("type", flat=True))


def test_the_mean_until_the_commit_is_judged_from_frames(world: World) -> None:
    objectives.put(JOB, COMMITTED, 0, "olga", "")
    for _ in range(3):
        world.bin(800)
    slo = Slo.objects.get()
    assert slo.outcomes == "111"
    assert slo.latency_ms == pytest.approx(800, rel=0.01)
    assert slo.utility == pytest.approx(35 * 500 / 800, rel=0.01)
    assert told() == ["slo.violated"]
    for _ in range(6):
        world.bin(100)
    assert told() == ["slo.violated", "slo.restored"]
    assert world.asked_juice == 0


def test_controllers_see_the_objective_and_the_latency_that_it_is_about(world: World) -> None:
    objectives.put(JOB, COMMITTED, 0, "olga", "")
    world.bin(800)
    view = world.histories.view(JOB)
    assert view is not None
    assert view.objective == COMMITTED
    assert view.objective_ms == pytest.approx(800, rel=0.01)
    objectives.put(JOB, None, 1, "olga", "")
    world.bin(800)
    view = world.histories.view(JOB)
    assert view is not None
    assert (view.objective, view.objective_ms) == (None, None)


def test_juice_below_its_threshold_violates_whatever_the_latency(world: World) -> None:
    both = Objective(LatencyTarget(500.0), JuiceTarget(0.95))
    objectives.put(JOB, both, 0, "olga", "")
    world.juice = 0.5
    for _ in range(3):
        world.bin(100)
    assert told() == ["slo.violated"]
    event = AlertEvent.objects.get().event
    assert event["title"] == "juice is 0.5, 0.95 is promised"
    assert event["evidence"]["juice"] == 0.5
    assert world.asked_juice == 3


def test_juice_that_is_not_measured_is_no_outcome(world: World) -> None:
    objectives.put(JOB, Objective(juice=JuiceTarget(0.95)), 0, "olga", "")
    world.juice = None
    for _ in range(3):
        world.bin(100)
    assert (Slo.objects.get().outcomes, told()) == ("", [])


def test_between_bins_and_for_what_heartbeats_carry_the_database_is_not_asked(
    world: World,
) -> None:
    objectives.put(JOB, COMMITTED, 0, "olga", "")
    world.bin(100)
    with CaptureQueriesContext(connection) as queries:
        world.judge.round()
    assert len(queries) == 0
    objectives.put(JOB, p99_objective(500.0), 1, "olga", "")
    world.bin(100)
    world.bin(800)
    assert Slo.objects.get().outcomes == ""


def test_a_job_of_another_worker_is_left_to_it(world: World) -> None:
    objectives.put(JOB, COMMITTED, 0, "olga", "")
    world.judge = HistoryJudge(Leases("another worker"), world.histories)
    world.bin(800)
    assert Slo.objects.get().outcomes == ""


def test_one_job_that_cannot_be_evaluated_says_so_and_the_others_are(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    objectives.put(JOB, Objective(juice=JuiceTarget(0.95)), 0, "olga", "")

    def broken(_view: View) -> float:
        raise ZeroDivisionError("no source")

    world.judge = HistoryJudge(world.leases, world.histories, broken)
    world.bin(100)
    assert world.histories.failure(JOB) == (
        "its SLO could not be evaluated: ZeroDivisionError: no source"
    )
    assert "cannot be evaluated" in caplog.text

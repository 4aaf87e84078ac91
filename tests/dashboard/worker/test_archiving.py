import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from dashboard.celery_app import app
from dashboard.models import AlertEvent, Delivery
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from dashboard.tasks import look_after_archive
from dashboard.worker import archiving
from dashboard.worker.archiving import CHORES, Archiving, Chore
from tests.dashboard.alerts.made import endpoint
from tests.waiting import until

pytestmark = pytest.mark.django_db

# Does what its file says, and notes that it was there.
SCRIPT = """
import pathlib, sys, time
folder = pathlib.Path({folder!r})
with (folder / "runs").open("a") as runs:
    runs.write("x")
what = (folder / "what").read_text()
if what == "hang":
    time.sleep(600)
print("a line of progress")
print(what)
raise SystemExit(what != "well")
"""


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock_s = 1_000.0
        self.store = MemoryStore()
        argv = (sys.executable, "-c", SCRIPT.format(folder=str(folder)))
        self.chore = Chore("archive", argv, every_s=300, bound_s=900)
        self.workers: list[Archiving] = []

    def worker(self, name: str = "one") -> Archiving:
        made = Archiving(name, (self.chore,), lambda: self.clock_s)
        self.workers.append(made)
        return made

    def run(self, worker: Archiving, what: str) -> None:
        """The chore is due, started, and settled by the first tick after its end."""
        (self.folder / "what").write_text(what)
        self.clock_s += 300
        worker.tick(self.store)
        assert worker._running is not None

        def settled() -> bool:
            worker.tick(self.store)
            return worker._running is None

        until(settled)

    @property
    def runs(self) -> int:
        file = self.folder / "runs"
        return len(file.read_text()) if file.exists() else 0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    for worker in made.workers:
        worker.stop()


def told() -> list[str]:
    return [event.type for event in AlertEvent.objects.order_by("pk")]


def test_the_first_run_comes_after_the_interval_and_the_next_after_another(bench: Bench) -> None:
    worker = bench.worker()
    bench.clock_s += 299
    worker.tick(bench.store)
    assert worker._running is None
    bench.clock_s -= 299
    bench.run(worker, "well")
    worker.tick(bench.store)
    assert (bench.runs, worker._running) == (1, None)
    bench.run(worker, "well")
    assert bench.runs == 2


def test_a_tick_does_not_wait_for_the_run(bench: Bench) -> None:
    worker = bench.worker()
    (bench.folder / "what").write_text("hang")
    bench.clock_s += 300
    began_s = time.monotonic()
    worker.tick(bench.store)
    worker.tick(bench.store)
    assert time.monotonic() - began_s < 60
    assert worker._running is not None


def test_of_two_workers_one_runs_it(bench: Bench) -> None:
    one, two = bench.worker("one"), bench.worker("two")
    bench.run(one, "well")
    two.tick(bench.store)
    assert two._running is None
    assert bench.runs == 1


def test_a_full_disk_alerts_once_and_its_end_once(bench: Bench) -> None:
    endpoint()
    worker = bench.worker()
    for _ in range(3):
        bench.run(worker, "the archive is unavailable: no space left on device")
    assert told() == ["archive.failed"]
    event = AlertEvent.objects.get().event
    assert "no space left on device" in event["explanation"]
    for _ in range(3):
        bench.run(worker, "well")
    assert told() == ["archive.failed", "archive.restored"]
    assert AlertEvent.objects.last().event["onset_ms"] == event["onset_ms"]  # type: ignore[union-attr]
    bench.run(worker, "again")
    assert told() == ["archive.failed", "archive.restored", "archive.failed"]


def test_an_endpoint_that_came_later_is_told_and_the_first_is_not_told_twice(bench: Bench) -> None:
    endpoint(name="first")
    worker = bench.worker()
    bench.run(worker, "no space")
    endpoint(name="second")
    bench.run(worker, "no space")
    assert [each.endpoint.name for each in Delivery.objects.order_by("pk")] == ["first", "second"]


def test_where_all_is_well_nobody_is_told(bench: Bench) -> None:
    endpoint()
    bench.run(bench.worker(), "well")
    assert told() == []


def test_a_run_that_takes_too_long_is_ended_and_told(bench: Bench) -> None:
    endpoint()
    worker = bench.worker()
    (bench.folder / "what").write_text("hang")
    bench.clock_s += 300
    worker.tick(bench.store)
    until(lambda: bench.runs == 1)
    process = worker._running._process  # type: ignore[union-attr]
    bench.clock_s += 901
    worker.tick(bench.store)
    assert process.returncode is not None
    assert told() == ["archive.failed"]
    assert "longer than 900 s" in AlertEvent.objects.get().event["explanation"]


def test_a_program_that_is_not_there_is_told(bench: Bench) -> None:
    endpoint()
    bench.chore = Chore("archive", ("/no/such/program",), 300, 900)
    worker = bench.worker()
    bench.clock_s += 300
    worker.tick(bench.store)
    assert told() == ["archive.failed"]


def test_a_worker_that_stops_ends_its_run(bench: Bench) -> None:
    worker = bench.worker()
    (bench.folder / "what").write_text("hang")
    bench.clock_s += 300
    worker.tick(bench.store)
    process = worker._running._process  # type: ignore[union-attr]
    worker.stop()
    assert process.returncode is not None


def test_the_beat_asks_every_worker_and_none_where_the_archive_is_off(
    settings: Settings, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: list[object] = []
    monkeypatch.setattr(Archiving, "tick", lambda _, store: ticks.append(store))
    name = app.conf.beat_schedule["look-after-archive"]["task"]
    assert app.conf.task_routes[name]["queue"] == "curtail-every-worker"
    app.tasks[name]()
    assert ticks == [memory_store]
    settings.ARCHIVE = None
    app.tasks[name]()
    assert ticks == [memory_store]


def test_a_store_that_is_away_is_said_and_the_tick_ends(
    memory_store: MemoryStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(Archiving, "tick", away)
    look_after_archive()
    assert "the archive cannot be looked after now: gone" in caplog.text


def test_the_chores_are_verbs_that_there_are(tmp_path: Path) -> None:
    from dashboard.cli.archive import _parser

    for chore in CHORES:
        at = chore.argv.index("archive")
        assert _parser().parse_args(chore.argv[at + 1 :])
    assert archiving.CHORES[0].every_s == 300

"""From frames in a store to incidents in the database and alerts in the outbox."""

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError

from collectors.formats import activity, keys, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.announcement import Announcement
from dashboard.detection.rounds import ROUND_S, Detection, running
from dashboard.detection.watch import Watch
from dashboard.fleet import jobs
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import AlertEvent, Endpoint, Incident, Job
from dashboard.store.memory import MemoryStore
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from techniques.detection.incidents import Changes
from tests.factories import ANNOUNCEMENT, START_MS, announcement, frame

pytestmark = pytest.mark.django_db(transaction=True)

JOB = ANNOUNCEMENT.job_id
INSTANCES = 8


class World:
    """A job whose eight state stores flush every second and compact every fourth, all at once."""

    # Whether every commit uploads; otherwise nobody knows.
    uploads = False

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.second = 0
        self.leases = Leases("a worker")
        self.detection = detection(self.leases)
        store.announce(ANNOUNCEMENT)
        jobs.record([ANNOUNCEMENT])

    def pass_s(self, seconds: int, in_phase: bool = True, warming_up: bool = False) -> None:
        for _ in range(seconds):
            self.second_passes(in_phase, warming_up)
            self.round()

    def round(self, by: Detection | None = None) -> None:
        now_ms = START_MS + self.second * 1000
        self.store.announce(announcement(heartbeat_ms=now_ms))
        (by or self.detection).round(self.store, now_ms)

    def second_passes(self, in_phase: bool = True, warming_up: bool = False) -> None:
        slow = in_phase and self.second % 4 == 0
        for place in range(20):
            at = self.second * 20 + place
            latencies = (400 + place,) if slow else (100 + place,)
            sent = frame(at, latencies, warming_up=warming_up)
            self.store.append(keys.frames(JOB), sent.start_ms, wire.encode(sent))
        at_us = (START_MS + self.second * 1000) * 1000
        ended = list(_stores(at_us, self.second, in_phase))
        if self.uploads:
            ended += _uploads(at_us)
        self.store.append(keys.activities(JOB), at_us // 1000 + 950, activity.encode(ended))
        self.second += 1


def detection(leases: Leases, round_s: float = ROUND_S) -> Detection:
    """A worker's, with histories of its own."""
    return Detection(leases, Histories(), round_s)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s

    def stand_still(self, work: Callable[..., Changes]) -> Callable[..., Changes]:
        """The process is held up for a minute while it does this."""

        def held_up(*args: object, **options: object) -> Changes:
            self.now_s += 60
            return work(*args, **options)

        return held_up


def _stores(at_us: int, second: int, in_phase: bool) -> Iterator[Activity]:
    for partition in range(INSTANCES):
        flushed_us = at_us + 50_000
        yield Activity(Kind.FLUSH, at_us, flushed_us, "1", 0, partition, input_bytes=10**6)
        if second % 4 == (0 if in_phase else partition % 4):
            yield Activity(Kind.COMPACTION, flushed_us, flushed_us + 300_000, "1", 0, partition)


def _uploads(at_us: int) -> Iterator[Activity]:
    for partition in range(INSTANCES):
        yield Activity(Kind.SNAPSHOT, at_us + 60_000, at_us + 90_000, "1", 0, partition)
        yield Activity(Kind.COMMIT, at_us, at_us + 100_000, "1", 0, partition)


@pytest.fixture
def world(memory_store: MemoryStore) -> World:
    return World(memory_store)


def test_stores_in_phase_open_one_incident_that_goes_on(world: World) -> None:
    world.pass_s(60)
    (incident,) = Incident.objects.filter(kind="scheduled_shadowsync")
    assert incident.state == Incident.State.OPEN
    assert incident.technique == "shadowsync"
    assert incident.evidence["operators"] == [0]
    assert incident.evidence["period_ms"] == 4_000
    before = incident.occurrences

    world.pass_s(20)
    incident.refresh_from_db()
    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1
    assert incident.occurrences >= before + 4


def test_a_run_that_warms_up_has_no_incident_until_it_is_steady(world: World) -> None:
    world.pass_s(60, warming_up=True)
    assert not Incident.objects.exists()

    world.pass_s(60)
    incident = Incident.objects.get(kind="scheduled_shadowsync")
    assert incident.onset_ms >= START_MS + 60_000


def test_where_every_commit_uploads_changelogs_are_advised_first(world: World) -> None:
    Endpoint.objects.create(name="on call", url="https://hooks.example/", created_ms=0)
    world.uploads = True
    world.pass_s(60)
    (incident,) = Incident.objects.filter(kind="scheduled_shadowsync")
    first = incident.evidence["first"]
    assert "changelogCheckpointing.enabled=true" in first["line"]
    opened = AlertEvent.objects.get(type="incident.opened", event__kind="scheduled_shadowsync")
    assert opened.event["evidence"][first["title"]] == first["line"]

    # A worker that takes over keeps it.
    world.detection = detection(world.leases)
    world.pass_s(20)
    incident.refresh_from_db()
    assert incident.evidence["first"] == first


def test_it_ends_when_they_are_spread(world: World) -> None:
    world.pass_s(60)
    world.pass_s(150, in_phase=False)

    (incident,) = Incident.objects.filter(kind="scheduled_shadowsync")
    assert incident.state == Incident.State.RESOLVED
    assert incident.end_ms is not None
    assert incident.end_ms < START_MS + 62_000


def test_a_worker_that_starts_anew_goes_on_with_what_is_open(world: World) -> None:
    world.pass_s(60)
    world.detection = detection(world.leases)
    world.pass_s(20)

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1


def test_a_job_of_which_nothing_comes_keeps_its_incident(world: World) -> None:
    world.pass_s(60)
    world.second += 600
    world.round()

    assert Incident.objects.get(kind="scheduled_shadowsync").state == Incident.State.OPEN


def test_who_listens_is_told_when_it_opens_and_when_it_ends(world: World) -> None:
    Endpoint.objects.create(name="on call", url="https://hooks.example/", created_ms=0)
    world.pass_s(60)
    opened = AlertEvent.objects.get(type="incident.opened", event__kind="scheduled_shadowsync")
    assert opened.job == JOB
    incident = Incident.objects.get(kind="scheduled_shadowsync")
    assert opened.event["link"] == f"/incidents/{incident.pk}"

    world.pass_s(150, in_phase=False)
    assert AlertEvent.objects.filter(
        type="incident.resolved", event__kind="scheduled_shadowsync"
    ).exists()


def test_a_healthy_job_has_no_incident(world: World) -> None:
    world.pass_s(180, in_phase=False)

    assert not Incident.objects.exists()


async def test_jobs_that_ended_or_fell_silent_are_not_looked_at() -> None:
    store = MemoryStore()
    now_ms = START_MS + 100_000
    told: list[Announcement] = [
        announcement(job_id="a.runs", heartbeat_ms=now_ms - 1_000),
        announcement(job_id="a.silent", heartbeat_ms=now_ms - STALE_AFTER_MS),
        announcement(job_id="a.ended", heartbeat_ms=now_ms, ended_ms=now_ms),
    ]
    for each in told:
        store.announce(each)

    assert await running(store, now_ms) == ["a.runs"]


def workers(world: World) -> tuple[Detection, Detection]:
    """Two, each with its share of the shards."""
    leases = [Leases("a"), Leases("b")]
    for each in leases * 2:
        async_to_sync(each.renew)(world.store)
    return detection(leases[0]), detection(leases[1])


def test_of_two_workers_one_looks_at_a_job(world: World) -> None:
    both = workers(world)
    for _ in range(60):
        world.second_passes()
        for each in both:
            world.round(each)

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1
    assert AlertEvent.objects.count() == 0


def test_when_one_is_killed_the_other_goes_on_with_its_incidents(world: World) -> None:
    Endpoint.objects.create(name="on call", url="https://hooks.example/", created_ms=0)
    first = Leases("a", lasting_ms=50)
    world.detection = detection(first)
    world.pass_s(60)
    before = Incident.objects.get(kind="scheduled_shadowsync").occurrences

    second = Leases("b")
    while not second.holds(JOB):
        async_to_sync(second.renew)(world.store)
    world.detection = detection(second)
    world.pass_s(20)

    incident = Incident.objects.get(kind="scheduled_shadowsync")
    assert incident.occurrences >= before + 4
    assert AlertEvent.objects.filter(type="incident.opened").count() == Incident.objects.count()


def test_one_killed_before_it_wrote_loses_nothing(world: World) -> None:
    for _ in range(60):
        world.second_passes()
    world.detection = detection(Leases("b"))
    world.pass_s(3)

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1


def test_two_that_both_believe_to_hold_a_job_open_one_incident(world: World) -> None:
    Endpoint.objects.create(name="on call", url="https://hooks.example/", created_ms=0)
    detections = []
    for owner in ("a", "b"):
        leases = Leases(owner)
        async_to_sync(leases.renew)(world.store)
        histories = Histories()
        detections.append((Detection(leases, histories), histories))
        # As if the store had been started anew and knew of nobody.
        async_to_sync(world.store.let_go)(owner)
    for _ in range(60):
        world.second_passes()
    for each, histories in detections:
        histories.read(world.store, [JOB], START_MS + 60_000)
        each.look([JOB])

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1
    assert AlertEvent.objects.filter(type="incident.opened").count() == Incident.objects.count()


def test_a_worker_whose_lease_ran_out_in_mid_round_writes_nothing(world: World) -> None:
    clock = Clock()
    leases = Leases("a", 5_000, clock)
    histories = Histories()
    async_to_sync(leases.renew)(world.store)
    for _ in range(60):
        world.second_passes()
    histories.read(world.store, [JOB], START_MS + 60_000)
    with patch.object(Watch, "look", clock.stand_still(Watch.look)):
        Detection(leases, histories).look([JOB])

    assert not Incident.objects.exists()


def test_what_could_not_be_written_is_found_again(world: World) -> None:
    for _ in range(60):
        world.second_passes()
    with patch("dashboard.detection.records.opened", side_effect=OperationalError("locked")):
        world.round()
    assert not Incident.objects.exists()
    world.round()

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1


def test_a_job_that_is_not_registered_yet_is_found_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    Job.objects.all().delete()
    world.pass_s(60)
    assert "stumbled" not in caplog.text
    jobs.record([ANNOUNCEMENT])
    world.round()

    assert Incident.objects.filter(kind="scheduled_shadowsync").count() == 1


def test_a_round_ends_when_its_time_is_up_and_the_rest_comes_next(world: World) -> None:
    names = [f"orders.{at}" for at in range(9)]
    world.second_passes()
    for name in names:
        world.store.announce(announcement(job_id=name, heartbeat_ms=START_MS + 1_000))
        for entry in async_to_sync(world.store.entries)(keys.frames(JOB), 0, 2**50):
            world.store.append(keys.frames(name), entry.at_ms, entry.payload)
    hurried = detection(world.leases, round_s=0)
    looked: list[int] = []
    for _ in range(6):
        world.round(hurried)
        looked.append(len(async_to_sync(world.store.looked)()))

    assert looked == [2, 4, 6, 8, 10, 10]


def test_a_job_without_frames_is_not_said_to_be_looked_at(world: World) -> None:
    world.round()

    assert async_to_sync(world.store.looked)() == {}

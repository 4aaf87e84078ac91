"""One history per job: fed once from a real Redis, and what one job's data throws is its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from redis import Redis

from collectors.formats import activity, keys, wire
from collectors.formats.announcement import to_hash
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.buckets import Histogram
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample
from collectors.formats.wire import WINDOW_MS, Frame
from collectors.process.shipper import write_announcement, write_entry
from dashboard.detection.rounds import Detection
from dashboard.fleet import jobs
from dashboard.models import Incident, Slo
from dashboard.series.history import LOOKS_BACK_MS
from dashboard.slo.current import current
from dashboard.store import StoreUnavailable
from dashboard.store.redis import RedisStore
from dashboard.testing.stack import RedisServer
from dashboard.worker import loop
from dashboard.worker.histories import FAILURE_LASTS_MS, Histories, Newest
from dashboard.worker.job_leases import Leases
from techniques.slo.objective import as_data
from tests.factories import ACTIVITIES, RUN_ID, START_MS, announcement, frame, p99_objective
from tests.techniques.detection import sent
from tests.techniques.detection.traces import PLANTED, trace

SICK, HEALTHY = "a.sick", "b.healthy"
SECONDS = 60
NOW_MS = START_MS + SECONDS * 1000
RETENTION_MS = 600_000


class World:
    """Jobs as their collectors write them, and one worker."""

    def __init__(self, redis: RedisServer) -> None:
        self.redis = redis
        self.client = Redis.from_url(redis.url)
        self.store = RedisStore(redis.url)
        self.histories = Histories()

    def announce(self, *job_ids: str, now_ms: int = NOW_MS) -> None:
        told = [announcement(job_id=job_id, heartbeat_ms=now_ms) for job_id in job_ids]
        pipeline = self.client.pipeline(transaction=False)
        for each in told:
            write_announcement(pipeline, to_hash(each))
        pipeline.execute()
        jobs.record(told)

    def send(self, job_id: str, *frames: Frame, at_ms: int | None = None) -> None:
        """`at_ms` is where it stands in the stream, if not where it belongs."""
        pipeline = self.client.pipeline(transaction=False)
        for each in frames:
            place_ms = each.start_ms if at_ms is None else at_ms
            write_entry(pipeline, keys.frames(job_id), place_ms, wire.encode(each), RETENTION_MS)
        pipeline.execute()

    def send_payload(self, stream: keys.Stream, at_ms: int, payload: bytes) -> None:
        pipeline = self.client.pipeline(transaction=False)
        write_entry(pipeline, stream, at_ms, payload, RETENTION_MS)
        pipeline.execute()

    def send_shadowsync(self, *job_ids: str) -> None:
        frames, ended = sent.entries(
            trace(replace(PLANTED["scheduled_shadowsync"], seconds=SECONDS))
        )
        for job_id in job_ids:
            for at_ms, payload in frames:
                self.send_payload(keys.frames(job_id), at_ms, payload)
            for at_ms, payload in ended:
                self.send_payload(keys.activities(job_id), at_ms, payload)

    def read(self, *job_ids: str, now_ms: int = NOW_MS) -> None:
        self.histories.read(self.store, job_ids, now_ms)

    def failures(self) -> Mapping[str, str]:
        return loop.run(self.store.failing())


@pytest.fixture
def world(redis: RedisServer) -> Iterator[World]:
    made = World(redis)
    yield made
    loop.run(made.store.close())
    made.client.close()


def poisoned_activity() -> bytes:
    return activity.encode([replace(ACTIVITIES[0], operator=2**64)])


def overflowing() -> Frame:
    """One that can be decoded, with a count that no array of 64 bits holds."""
    instance = InstanceSample(0, InstanceState.READY, latency=Histogram({3: 2**65}))
    return frame(40, (10,), pools=(PoolSample("scores", "node-a", 0, ("score",), (instance,)),))


@pytest.mark.django_db(transaction=True)
def test_a_poisoned_job_does_not_keep_another_from_being_detected(world: World) -> None:
    world.announce(SICK, HEALTHY)
    end_ms = NOW_MS
    world.send_shadowsync(HEALTHY)
    world.send(SICK, *(frame(at, (10,)) for at in range(20)))
    world.send_payload(keys.activities(SICK), end_ms, poisoned_activity())
    world.send(SICK, frame(0, window=0), at_ms=end_ms)
    detection = Detection(Leases("a worker"), world.histories)
    detection.round(world.store, NOW_MS)

    assert Incident.objects.filter(job_id=HEALTHY, kind="scheduled_shadowsync").exists()
    assert world.failures() == {SICK: "2 entries of its streams could not be read"}
    # What could be read of it is there.
    view = world.histories.view(SICK)
    assert view is not None
    assert len(view) == 20


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_data_cannot_be_taken_in_begins_anew_and_says_so(world: World) -> None:
    world.announce(SICK, HEALTHY)
    world.send_shadowsync(HEALTHY)
    world.send(SICK, *(frame(at, (10,)) for at in range(20)), overflowing())
    detection = Detection(Leases("a worker"), world.histories)
    detection.round(world.store, NOW_MS)

    assert Incident.objects.filter(job_id=HEALTHY).exists()
    assert world.histories.view(SICK) is None
    assert world.failures()[SICK].startswith("its data could not be taken in: OverflowError")

    # What comes next is read; the failure is told for a minute more.
    world.send(SICK, frame(60, (30,)))
    world.read(SICK, now_ms=NOW_MS + 1_000)
    view = world.histories.view(SICK)
    assert view is not None
    assert view.p99_ms == pytest.approx([30], rel=0.01)
    assert world.histories.failure(SICK)
    world.announce(SICK, now_ms=NOW_MS + FAILURE_LASTS_MS + 1)
    detection.round(world.store, NOW_MS + FAILURE_LASTS_MS + 1)
    assert world.failures() == {}


@pytest.mark.django_db(transaction=True)
def test_a_rule_that_throws_is_told_as_the_jobs_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.announce(SICK)
    world.send(SICK, *(frame(at, (10,)) for at in range(20)))

    def stumbles(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in a rule")

    monkeypatch.setattr("dashboard.detection.watch.Watch.look", stumbles)
    Detection(Leases("a worker"), world.histories).round(world.store, NOW_MS)

    assert world.failures() == {SICK: "it could not be looked at: ZeroDivisionError: in a rule"}


def test_entries_that_cannot_be_read_are_counted_until_a_minute_passes_without(
    world: World,
) -> None:
    for at in range(3):
        world.send_payload(keys.frames(SICK), START_MS + at, b"garbage")
        world.read(SICK, now_ms=NOW_MS + at)
    assert world.histories.failure(SICK) == "3 entries of its streams could not be read"

    world.read(SICK, now_ms=NOW_MS + 2 * FAILURE_LASTS_MS)
    assert world.histories.failure(SICK) == ""
    world.send_payload(keys.frames(SICK), NOW_MS + FAILURE_LASTS_MS, b"garbage")
    world.read(SICK, now_ms=NOW_MS + 2 * FAILURE_LASTS_MS)
    assert world.histories.failure(SICK) == "1 entry of its streams could not be read"


def test_of_a_job_that_was_never_read_nothing_is_known(world: World) -> None:
    world.read(HEALTHY)

    assert world.histories.view(HEALTHY) is None
    assert world.histories.newest(HEALTHY) is None
    assert world.histories.failure(HEALTHY) == ""


def test_the_newest_frame_says_what_became_of_what_was_asked(world: World) -> None:
    asked = Asked(7, True, (Applied("shadowsync", "act", State.APPLIED, 7),))
    world.send(HEALTHY, frame(0, (10,)), frame(1, (10,), asked=asked))
    world.send_payload(keys.frames(HEALTHY), START_MS + 5_000, b"garbage")
    world.read(HEALTHY)

    assert world.histories.newest(HEALTHY) == Newest(START_MS + WINDOW_MS, str(RUN_ID), asked)


def test_a_frame_whose_word_on_what_was_asked_is_garbled_is_not_the_newest(world: World) -> None:
    world.send(HEALTHY, frame(0, (10,)))
    garbled = wire.encode(frame(1, (20,))) + bytes((wire.ASKED, 1, 0xFF))
    world.send_payload(keys.frames(HEALTHY), START_MS + WINDOW_MS, garbled)
    world.read(HEALTHY)

    assert world.histories.newest(HEALTHY) == Newest(START_MS, str(RUN_ID), None)
    assert world.histories.failure(HEALTHY) == "1 entry of its streams could not be read"


def test_what_was_read_is_not_read_again_and_a_view_is_made_once(world: World) -> None:
    world.send(HEALTHY, *(frame(at, (at + 1,)) for at in range(10)))
    world.read(HEALTHY)
    first = world.histories.view(HEALTHY)
    assert first is not None
    world.read(HEALTHY)
    assert world.histories.view(HEALTHY) is first

    world.send(HEALTHY, frame(10, (11,)))
    world.read(HEALTHY)
    second = world.histories.view(HEALTHY)
    assert second is not None
    assert second.p99_ms == pytest.approx(range(1, 12), rel=0.01)


def test_a_job_that_comes_back_is_read_two_minutes_back_and_no_more(world: World) -> None:
    world.send(HEALTHY, frame(0, (10,)))
    world.read(HEALTHY, now_ms=START_MS)
    later = (10 * LOOKS_BACK_MS) // WINDOW_MS
    world.send(HEALTHY, frame(10, (20,)), frame(later, (30,)))
    world.read(HEALTHY, now_ms=START_MS + 10 * LOOKS_BACK_MS)

    view = world.histories.view(HEALTHY)
    assert view is not None
    known = view.p99_ms[~np.isnan(view.p99_ms)]
    assert known == pytest.approx([30], rel=0.01)


def test_jobs_that_are_not_ours_are_forgotten(world: World) -> None:
    world.send(SICK, frame(0, (10,)))
    world.send(HEALTHY, frame(0, (10,)))
    world.read(SICK, HEALTHY)
    world.histories.keep([HEALTHY])

    assert world.histories.view(SICK) is None
    assert world.histories.view(HEALTHY) is not None


@pytest.mark.django_db(transaction=True)
def test_a_view_has_the_jobs_promise_and_a_change_within_a_second(world: World) -> None:
    world.announce(HEALTHY)
    slo = Slo.objects.create(job_id=HEALTHY, objective=as_data(p99_objective(250.0)))
    world.histories = Histories(objectives=current)
    world.send(HEALTHY, frame(0, (10,)))
    world.read(HEALTHY)
    view = world.histories.view(HEALTHY)
    assert view is not None
    assert view.objective == p99_objective(250.0)

    slo.objective = None
    slo.save()
    world.send(HEALTHY, frame(20, (10,)))
    world.read(HEALTHY, now_ms=NOW_MS + 1_000)
    view = world.histories.view(HEALTHY)
    assert view is not None
    assert view.objective is None


def test_a_worker_keeps_its_connection_from_round_to_round(world: World) -> None:
    def connections() -> int:
        stats: Mapping[str, int] = world.client.info("stats")
        return stats["total_connections_received"]

    world.read(HEALTHY)
    before = connections()
    for at in range(5):
        world.send(HEALTHY, frame(at, (10,)))
        world.read(HEALTHY, SICK)

    assert connections() == before


def test_a_redis_that_was_away_is_read_from_where_it_was(world: World) -> None:
    world.send(HEALTHY, frame(0, (10,)))
    world.read(HEALTHY)
    world.redis.stop()
    with pytest.raises(StoreUnavailable):
        world.read(HEALTHY)
    world.redis.start()
    world.send(HEALTHY, frame(1, (20,)))
    world.read(HEALTHY)

    view = world.histories.view(HEALTHY)
    assert view is not None
    assert view.p99_ms == pytest.approx([10, 20], rel=0.01)

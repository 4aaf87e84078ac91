import json

import pytest

from collectors import activity, wire
from collectors.announcement import Announcement
from collectors.collector import Collector
from collectors.keys import Stream
from collectors.link import Kind, Message
from tests.collectors.test_parts import GOLDEN
from tests.made import RUN_ID, START_MS

QUERY = "eae662f7-7f39-4d53-babf-2f91cfe9e5ec"
HELLO = {
    "job": "Orders (EU)",
    "application_id": "app-1",
    "spark_version": "4.3.0",
    "driver_host": "node-a",
}
STARTED = {"query_id": QUERY, "run_id": str(RUN_ID), "name": "scored", "started_ms": START_MS}
ENDED = {"query_id": QUERY, "run_id": str(RUN_ID), "ended_ms": START_MS + 9, "reason": "boom" * 999}


class Box:
    """An outbox that keeps what it gets."""

    def __init__(self) -> None:
        self.dropped = 0
        self.frames: list[tuple[str, wire.Frame]] = []
        self.activities: list[activity.Activity] = []
        self.announcements: list[Announcement] = []
        self.watched: set[str] = set()

    def ship(self, stream: Stream, at_ms: int, payload: bytes) -> None:
        if stream.kind == "activities":
            self.activities += activity.decode(payload)
            return
        frame = wire.decode(payload)
        assert at_ms == frame.start_ms
        self.frames.append((stream.job_id, frame))

    def announce(self, announcement: Announcement) -> None:
        self.announcements.append(announcement)

    def watch(self, job_id: str) -> None:
        self.watched.add(job_id)

    def unwatch(self, job_id: str) -> None:
        self.watched.remove(job_id)


class World:
    def __init__(self) -> None:
        self.now_ms = START_MS
        self.box = Box()
        self.collector = Collector(self.box, lambda: self.now_ms)

    def tell(self, kind: int, content: object) -> None:
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.collector.handle(Message(kind, payload))


@pytest.fixture
def world() -> World:
    made = World()
    made.tell(Kind.HELLO, HELLO)
    made.tell(Kind.QUERY_STARTED, STARTED)
    return made


def test_a_started_query_is_announced_under_a_name_fit_for_a_url(world: World) -> None:
    [announced] = world.box.announcements
    assert announced.job_id == "orders-eu.scored"
    assert (announced.application, announced.query) == ("Orders (EU)", "scored")
    assert announced.run_id == str(RUN_ID)


def test_a_query_without_a_name_is_known_by_its_id(world: World) -> None:
    world.tell(Kind.QUERY_STARTED, {**STARTED, "name": None})
    assert world.box.announcements[-1].job_id == f"orders-eu.{QUERY[:8]}"


def test_frames_are_shipped_as_windows_close(world: World) -> None:
    world.now_ms += 400
    world.collector.tick()
    assert [frame.sequence for _, frame in world.box.frames] == [0, 1, 2, 3]
    assert {job_id for job_id, _ in world.box.frames} == {"orders-eu.scored"}


def test_a_heartbeat_goes_out_every_second(world: World) -> None:
    for _ in range(60):
        world.now_ms += 50
        world.collector.tick()
    beats = [announced.heartbeat_ms for announced in world.box.announcements]
    assert beats == [START_MS, START_MS + 50, START_MS + 1050, START_MS + 2050]


def test_the_end_of_a_query_is_announced_with_its_reason_in_bounds(world: World) -> None:
    world.tell(Kind.QUERY_TERMINATED, ENDED)
    ended = world.box.announcements[-1]
    assert ended.ended_ms == START_MS + 9
    assert ended.end_reason.startswith("boom")
    assert len(ended.end_reason) <= 2_000
    world.now_ms += 5_000
    world.collector.tick()
    assert len(world.box.frames) == 1  # the window in which it ended


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.PART, b"\xff\xff"),
        (Kind.QUERY_PROGRESS, b"{]"),
        (Kind.QUERY_STARTED, b"{}"),
        (Kind.HELLO, b'{"surprise": 1}'),
        (Kind.LINK_LOSS, b"many"),
        (99, b""),
    ],
)
def test_garbage_on_the_link_is_counted_and_the_rest_goes_on(
    world: World, kind: int, payload: bytes
) -> None:
    world.tell(kind, payload)
    world.tell(Kind.PART, GOLDEN)
    assert world.collector.unreadable == 1
    world.now_ms += 250
    world.collector.tick()
    assert len(world.box.frames) == 1

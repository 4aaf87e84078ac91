import json
from datetime import UTC, datetime
from typing import Any

import pytest

from collectors.formats import activity, control, wire
from collectors.formats.announcement import Announcement
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.control import Control, Wanted
from collectors.formats.keys import Stream
from collectors.formats.pulse import Pulse
from collectors.process.collector import Collector
from collectors.process.link import Message, MessageKind
from techniques.orders import JobFacts
from techniques.registry import Registry
from tests.collectors.formats.test_parts import GOLDEN
from tests.collectors.process.test_scheduling import EXECUTORS_GOLDEN
from tests.factories import RUN_ID, START_MS

QUERY = "eae662f7-7f39-4d53-babf-2f91cfe9e5ec"
HELLO = {
    "job": "Orders (EU)",
    "application_id": "app-1",
    "spark_version": "4.3.0",
    "driver_host": "node-a",
}
STARTED = {"query_id": QUERY, "run_id": str(RUN_ID), "name": "scored", "started_ms": START_MS}
OTHER_RUN = "11111111-2222-3333-4444-555555555555"
ENDED = {"query_id": QUERY, "run_id": str(RUN_ID), "ended_ms": START_MS + 9, "reason": "boom" * 999}


class Box:
    """An outbox that keeps what it gets."""

    def __init__(self) -> None:
        self.dropped = 0
        self.waiting = 0
        self.held: dict[Stream, int] = {}
        self.frames: list[tuple[str, wire.Frame]] = []
        self.activities: list[activity.Activity] = []
        self.announcements: list[Announcement] = []
        self.watched: set[str] = set()

    def shipped(self, stream: Stream) -> int:
        return self.held.get(stream, 0)

    def ship(self, stream: Stream, at_ms: int, payload: bytes, holds: int = 1) -> None:
        self.held[stream] = self.shipped(stream) + holds
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
        self.cpu_us = 0
        self.resident_bytes: int | None = 40_000_000
        self.box = Box()
        self.collector = Collector(
            self.box,
            lambda: self.now_ms,
            techniques=Registry(["tests.techniques.echo"]),
            cpu_us=lambda: self.cpu_us,
            resident_bytes=lambda: self.resident_bytes,
        )

    def tell(self, kind: int, content: object) -> None:
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.collector.handle(Message(kind, payload))

    def pass_windows(self, number: int) -> None:
        for _ in range(number):
            self.now_ms += 50
            self.collector.tick()

    @property
    def pulse(self) -> Pulse:
        pulse = self.box.announcements[-1].pulse
        assert pulse
        return pulse


@pytest.fixture
def world() -> World:
    made = World()
    made.tell(MessageKind.HELLO, HELLO)
    made.tell(MessageKind.QUERY_STARTED, STARTED)
    return made


def test_a_started_query_is_announced_under_a_name_fit_for_a_url(world: World) -> None:
    [announced] = world.box.announcements
    assert announced.job_id == "orders-eu.scored"
    assert (announced.application, announced.query) == ("Orders (EU)", "scored")
    assert announced.run_id == str(RUN_ID)


def test_a_query_without_a_name_is_known_by_its_id(world: World) -> None:
    world.tell(MessageKind.QUERY_STARTED, {**STARTED, "name": None})
    assert world.box.announcements[-1].job_id == f"orders-eu.{QUERY[:8]}"


def test_frames_are_shipped_as_windows_close(world: World) -> None:
    world.now_ms += 400
    world.collector.tick()
    assert [frame.sequence for _, frame in world.box.frames] == [0, 1, 2, 3]
    assert {job_id for job_id, _ in world.box.frames} == {"orders-eu.scored"}


def test_a_heartbeat_goes_out_every_second(world: World) -> None:
    world.pass_windows(60)
    beats = [announced.heartbeat_ms for announced in world.box.announcements]
    assert beats == [START_MS, START_MS + 50, START_MS + 1050, START_MS + 2050]


def test_the_end_of_a_query_is_announced_with_its_reason_in_bounds(world: World) -> None:
    world.tell(MessageKind.QUERY_TERMINATED, ENDED)
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
        (MessageKind.PART, b"\xff\xff"),
        (MessageKind.QUERY_PROGRESS, b"{]"),
        (MessageKind.QUERY_STARTED, b"{}"),
        (MessageKind.HELLO, b'{"surprise": 1}'),
        (MessageKind.LINK_LOSS, b"many"),
        (MessageKind.FOREIGN, b"java.lang.String"),
        (99, b""),
    ],
)
def test_garbage_on_the_link_is_counted_and_the_rest_goes_on(
    world: World, kind: int, payload: bytes
) -> None:
    world.tell(kind, payload)
    world.tell(MessageKind.PART, GOLDEN)
    assert world.collector.unreadable == 1
    world.now_ms += 250
    world.collector.tick()
    assert len(world.box.frames) == 1


def progress(batch_id: int, rows: int, ended_ms: int, run_id: str = str(RUN_ID)) -> dict[str, Any]:
    started = datetime.fromtimestamp((ended_ms - 20) / 1000, UTC)
    return {
        "id": QUERY,
        "runId": run_id,
        "batchId": batch_id,
        "numInputRows": rows,
        "timestamp": started.isoformat(timespec="milliseconds"),
        "durationMs": {"addBatch": 15, "triggerExecution": 20},
        "sources": [],
    }


def test_every_frame_says_what_the_collector_did_and_takes(world: World) -> None:
    world.pass_windows(5)  # the heartbeat of the first tick read the memory
    world.box.waiting, world.cpu_us = 3, 7_000
    world.pass_windows(1)
    assert world.box.frames[0][1].collector == CollectorLoad(0, 0, 0, 0, 40_000_000)
    assert world.box.frames[1][1].collector == CollectorLoad(1, 0, 3, 7_000, 40_000_000)


def test_a_realizer_sees_the_sink_and_who_is_leaving(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[JobFacts] = []

    def orders(_: object, job: JobFacts) -> tuple[()]:
        seen.append(job)
        return ()

    monkeypatch.setattr("tests.techniques.echo.realizer.orders", orders)
    # The same of executor 7, which the part is of.
    _, leaving, left = (each.replace(b"\x011", b"\x017") for each in EXECUTORS_GOLDEN)
    told = {**progress(1, 100, START_MS + 10), "sink": {"description": "ForeachBatchSink"}}
    world.tell(MessageKind.PART, GOLDEN)
    world.tell(MessageKind.QUERY_PROGRESS, told)
    world.tell(MessageKind.EXECUTORS, leaving)
    wanted = {"echo": Wanted("act", 1, 5_000, {"word": "hello"})}
    world.collector.hear("orders-eu.scored", control.encode(Control(1, 1, wanted)))
    assert seen[-1].sink == "ForeachBatchSink"
    assert [(each.executor_id, each.leaving) for each in seen[-1].executors] == [("7", True)]
    world.tell(MessageKind.EXECUTORS, left)
    world.pass_windows(1)
    assert seen[-1].executors == ()


def test_activities_are_counted_one_by_one(world: World) -> None:
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 100, START_MS + 10))
    world.pass_windows(6)
    load = world.box.frames[-1][1].collector
    assert load
    assert load.shipped_activities == len(world.box.activities) == 2  # a batch and its one phase


def test_memory_is_looked_up_at_heartbeats_only(world: World) -> None:
    world.pass_windows(2)
    world.resident_bytes = None
    world.pass_windows(18)
    loads = [frame.collector for _, frame in world.box.frames]
    assert [load.resident_bytes for load in loads if load] == [40_000_000] * len(loads)
    world.pass_windows(2)
    load = world.box.frames[-1][1].collector
    assert load
    assert load.resident_bytes is None


def test_a_job_has_a_pulse_from_its_first_word(world: World) -> None:
    assert world.pulse == Pulse(load=CollectorLoad())


def test_the_pulse_of_each_heartbeat_has_all_that_was_shipped_by_then(world: World) -> None:
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 100, START_MS + 10))
    world.tell(MessageKind.QUERY_PROGRESS, progress(2, 40, START_MS + 60))
    world.pass_windows(21)
    assert (world.pulse.rows_in, world.pulse.batches) == (140, 2)
    assert world.pulse.batch_durations.count == 2
    assert world.pulse.load.shipped_frames == len(world.box.frames)


def test_the_pulse_tells_how_busy_the_collector_was_since_the_last_one(world: World) -> None:
    world.pass_windows(1)
    assert world.pulse.busy_share is None
    world.cpu_us += 25_000
    world.pass_windows(20)
    assert world.pulse.busy_share == 0.025
    assert world.pulse.load.cpu_us == 25_000
    world.pass_windows(20)
    assert world.pulse.busy_share == 0


def test_the_last_word_on_an_ended_run_has_the_totals_of_its_last_window(world: World) -> None:
    world.pass_windows(30)
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 100, world.now_ms))
    world.tell(MessageKind.QUERY_TERMINATED, ENDED)
    assert world.pulse.rows_in == 0
    world.pass_windows(60)
    last = world.box.announcements[-1]
    assert last.ended_ms == START_MS + 9
    assert world.pulse.rows_in == 100
    assert last.heartbeat_ms == START_MS + 1_500 + 250  # and no heartbeat after it


def test_a_new_run_begins_with_a_pulse_of_its_own(world: World) -> None:
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 100, START_MS + 10))
    world.pass_windows(30)
    assert world.pulse.rows_in == 100
    world.tell(MessageKind.QUERY_STARTED, {**STARTED, "run_id": OTHER_RUN})
    world.tell(MessageKind.QUERY_TERMINATED, ENDED)  # Spark may report it after the new one's start
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 7, world.now_ms, OTHER_RUN))
    world.pass_windows(30)
    assert world.box.announcements[-1].run_id == OTHER_RUN
    assert world.box.announcements[-1].ended_ms == 0
    assert world.pulse.rows_in == 7


def test_the_end_of_a_run_does_not_speak_over_another_query_of_its_name(world: World) -> None:
    world.tell(MessageKind.QUERY_TERMINATED, ENDED)
    other = {**STARTED, "query_id": OTHER_RUN, "run_id": OTHER_RUN}
    world.tell(MessageKind.QUERY_STARTED, other)
    world.pass_windows(10)
    assert world.box.announcements[-1].run_id == OTHER_RUN


def test_a_query_that_is_told_of_twice_keeps_its_pulse(world: World) -> None:
    world.tell(MessageKind.QUERY_PROGRESS, progress(1, 100, START_MS + 10))
    world.pass_windows(6)
    world.tell(MessageKind.QUERY_STARTED, STARTED)
    world.pass_windows(20)
    assert world.pulse.rows_in == 100

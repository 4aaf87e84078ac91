from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Kind, TaskFacts
from collectors.formats.buckets import middle_us
from collectors.formats.codec import Garbled
from collectors.formats.wire import WINDOW_MS
from collectors.process.events import scheduling
from collectors.process.events.scheduling import FEW_TASKS_PER_S, Running, Scheduling, Waiting
from collectors.process.events.task_messages import (
    ExecutorChange,
    Flow,
    Locality,
    Stage,
    StageWait,
    TaskRecord,
    Tasks,
    Traffic,
    decode_executor,
    decode_tasks,
    decode_traffic,
)

QUERY = "eae662f7-7f39-4d53-babf-2f91cfe9e5ec"
RUN = "b63c324a-38f1-4221-8417-b6129454136b"
STAGE = Stage(7, 0, QUERY, RUN, 9, kind=1, stateful=True, result=True)

TASKS = Tasks(
    lost_events=5,
    stages=(StageWait(STAGE, tasks=6, waiting=3, running=1, submitted_ms=1728394506100),),
    records=(
        TaskRecord(
            *(STAGE, "1", 300, 4, 0, 1728394506150),
            choosy=True,
            locality=Locality.ANY,
            waited_ms=50,
        ),
        TaskRecord(
            STAGE,
            "2",
            299,
            3,
            1,
            1728394506120,
            finish_ms=1728394506155,
            successful=True,
            run_ms=30,
            rows_read=1000,
            shuffle_bytes_read=4096,
            rows_written=12,
            waited_ms=20,
        ),
    ),
)
TASKS_GOLDEN = bytes.fromhex(
    "02" "05"
    "01" "07" "00" "24" + QUERY.encode().hex() + "24" + RUN.encode().hex() + "0a" "02" "03"
    "06" "03" "01" "f4dedce2a632" "00"
    "02" "0131" "0132"
    "a6dfdce2a632" "02"
    "00" "00" "ac02" "04" "00" "10" "04" "00"
    "00" "01" "ab02" "03" "01" "03" "00" "3b" "23" "1e" "e807" "8020" "00" "0c"
)  # fmt: skip

EXECUTORS = (
    ExecutorChange("1", True, 1728394506150, "node-a", 4),
    ExecutorChange("1", True, 1728394506200, "node-a", 4, leaving=True),
    ExecutorChange("1", False, 1728394506250, reason="killed"),
)
EXECUTORS_GOLDEN = (
    bytes.fromhex("0201a6dfdce2a632013106" + b"node-a".hex() + "0400"),
    bytes.fromhex("0203d8dfdce2a632013106" + b"node-a".hex() + "0400"),
    bytes.fromhex("02008ae0dce2a6320131000006" + b"killed".hex()),
)

TRAFFIC = Traffic(STAGE, 1728394506200, True, (Flow("1", "1", 1024), Flow("2", "1", 4096)))
TRAFFIC_GOLDEN = bytes.fromhex(
    "02"
    "07" "00" "24" + QUERY.encode().hex() + "24" + RUN.encode().hex() + "0a" "02" "03"
    "d8dfdce2a632" "01"
    "02" "0131" "0132"
    "02" "00" "00" "8008" "01" "00" "8020"
)  # fmt: skip

# A window far from zero, and its first millisecond.
WINDOW = 1000
START_MS = WINDOW * WINDOW_MS


def launched(task_id: int, at_ms: int, **changes: object) -> TaskRecord:
    """`at_ms` counts from the start of WINDOW."""
    record = TaskRecord(STAGE, "1", task_id, task_id, 0, START_MS + at_ms)
    return replace(record, **changes)  # type: ignore[arg-type]


def ended(task_id: int, from_ms: int, to_ms: int, **changes: object) -> TaskRecord:
    return launched(
        task_id, from_ms, **{"finish_ms": START_MS + to_ms, "successful": True, **changes}
    )


def said(*records: TaskRecord, **stage: int) -> Tasks:
    """With a stage that has as many tasks as are told of, all running or done."""
    running = len({r.task_id for r in records} - {r.task_id for r in records if r.ended})
    told: dict[str, int] = {
        "tasks": len({r.task_id for r in records}),
        "waiting": 0,
        "running": running,
        "submitted_ms": START_MS,
        **stage,
    }
    stages = {record.stage: StageWait(record.stage, **told) for record in records}
    return Tasks(0, tuple(stages.values()) or (StageWait(STAGE, **told),), records)


def test_the_golden_messages_are_read() -> None:
    assert decode_tasks(TASKS_GOLDEN) == TASKS
    assert tuple(map(decode_executor, EXECUTORS_GOLDEN)) == EXECUTORS
    assert decode_traffic(TRAFFIC_GOLDEN) == TRAFFIC


@pytest.mark.parametrize(
    ("decode", "golden"),
    [
        (decode_tasks, TASKS_GOLDEN),
        (decode_executor, EXECUTORS_GOLDEN[0]),
        (decode_traffic, TRAFFIC_GOLDEN),
    ],
)
def test_a_message_cut_short_or_of_another_version_is_garbled(
    decode: Callable[[bytes], object], golden: bytes
) -> None:
    for length in range(len(golden)):
        with pytest.raises(Garbled):
            decode(golden[:length])
    with pytest.raises(Garbled):
        decode(b"\x01" + golden[1:])


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_garbled(noise: bytes) -> None:
    decoders: list[Callable[[bytes], object]] = [decode_tasks, decode_executor, decode_traffic]
    for decode in decoders:
        for data in (noise, b"\x02" + noise, TASKS_GOLDEN[:-20] + noise):
            try:
                decode(data)
            except Garbled:
                continue


def test_a_task_runs_in_every_window_from_launch_to_finish() -> None:
    made = Scheduling()
    made.add_tasks(said(launched(1, 10)))
    running = [made.close(WINDOW + at).of(QUERY).running for at in range(3)]
    made.add_tasks(said(ended(1, 10, 160)))
    last = made.close(WINDOW + 3).of(QUERY)
    assert running == [(Running("1", 7, 1),)] * 3
    assert (last.running, last.finished) == ((Running("1", 7, 1),), 1)
    assert made.close(WINDOW + 4).of(QUERY).running == ()


def test_a_finish_known_before_its_window_closes_counts_in_its_own_window() -> None:
    made = Scheduling()
    made.add_tasks(said(ended(1, 10, 120)))
    seen = [made.close(WINDOW + at).of(QUERY) for at in range(4)]
    assert [each.finished for each in seen] == [0, 0, 1, 0]
    assert [len(each.running) for each in seen] == [1, 1, 1, 0]


def test_a_finish_heard_of_too_late_counts_in_the_next_window() -> None:
    made = Scheduling()
    made.close(WINDOW)
    made.add_tasks(said(ended(1, 10, 40)))
    late = made.close(WINDOW + 1).of(QUERY)
    assert (late.finished, late.running) == (1, ())


def test_slots_that_change_hands_are_not_counted_twice() -> None:
    made = Scheduling()
    tasks = [ended(at, 10 * at, 10 * at + 10) for at in range(4)]
    made.add_tasks(said(*tasks, ended(9, 5, 15, executor_id="2"), ended(8, 12, 12)))
    assert made.close(WINDOW).of(QUERY).running == (Running("1", 7, 1), Running("2", 7, 1))


def test_the_most_at_once_is_kept_per_executor_and_stage() -> None:
    other = Stage(8, 0, QUERY, RUN, 9)
    made = Scheduling()
    made.add_tasks(
        said(ended(1, 0, 20), ended(2, 10, 30), ended(3, 25, 40), launched(4, 0, stage=other))
    )
    assert made.close(WINDOW).of(QUERY).running == (Running("1", 7, 2), Running("1", 8, 1))


def test_tasks_wait_from_their_stages_submission_to_their_launch() -> None:
    made = Scheduling()
    first, second = launched(1, 20), launched(2, 60)
    made.add_tasks(said(first, tasks=3, waiting=2, running=1, submitted_ms=START_MS + 10))
    made.add_tasks(said(second, tasks=3, waiting=1, running=2, submitted_ms=START_MS + 10))
    # 10 ms until the first is launched, two more until the window ends.
    assert made.close(WINDOW).of(QUERY).waiting == (Waiting(7, 2, 10 + 2 * 40),)
    assert made.close(WINDOW + 1).of(QUERY).waiting == (Waiting(7, 1, 10 + 50),)


def test_a_stage_that_is_complete_has_none_waiting() -> None:
    made = Scheduling()
    made.add_tasks(said(ended(1, 0, 20), tasks=1, completed_ms=START_MS + 20))
    assert made.close(WINDOW).of(QUERY).waiting == ()
    assert made.close(WINDOW + 1).queries.get(QUERY, None) is not None  # its rate is still known
    assert [made.close(WINDOW + at).queries for at in range(2, 25)][-1] == {}


def test_tasks_to_be_tried_again_wait_again() -> None:
    made = Scheduling()
    failed = ended(1, 0, 20, successful=False)
    made.add_tasks(said(launched(1, 0), failed, tasks=1, waiting=1, running=0))
    window = made.close(WINDOW).of(QUERY)
    assert (window.failed, window.finished) == (1, 1)
    assert [each.tasks for each in window.waiting] == [1]


def test_a_collector_that_was_not_there_at_the_launches_counts_only_who_waits() -> None:
    made = Scheduling()
    made.add_tasks(said(launched(5, -500), tasks=10, waiting=4, running=6, submitted_ms=0))
    assert made.close(WINDOW).of(QUERY).waiting == (Waiting(7, 4, 4 * 50),)


def test_an_end_that_got_lost_leaves_no_task_running() -> None:
    made = Scheduling()
    made.add_tasks(said(launched(1, 0), launched(2, 1)))
    made.add_tasks(said(launched(3, 60), tasks=3, running=1))
    made.close(WINDOW)
    assert made.close(WINDOW + 1).of(QUERY).running == (Running("1", 7, 1),)


def test_durations_failures_copies_and_misses_are_counted() -> None:
    made = Scheduling()
    made.add_tasks(
        said(
            ended(1, 0, 20),
            ended(2, 0, 30, successful=False),
            ended(3, 5, 30, successful=False, killed=True, speculative=True, attempt=1),
            ended(4, 6, 30, speculative=True, attempt=1),
            ended(5, 7, 9, choosy=True, locality=Locality.ANY),
            ended(6, 7, 9, choosy=True, locality=Locality.NODE_LOCAL),
            ended(7, 7, 9, locality=Locality.ANY),
        )
    )
    window = made.close(WINDOW).of(QUERY)
    assert (window.finished, window.failed, window.speculative) == (7, 1, 2)
    assert window.locality_misses == 1
    slowest_us = middle_us(max(window.durations.counts))
    assert slowest_us == pytest.approx(30_000, rel=0.01)


def test_a_finished_task_is_an_activity() -> None:
    made = Scheduling()
    made.add_tasks(said(ended(3, 1, 20, successful=False, shuffle_bytes_read=5)))
    (activity,) = made.close(WINDOW).of(QUERY).activities
    assert (activity.kind, activity.partition, activity.executor_id) == (Kind.TASK, 3, "1")
    assert (activity.name, activity.reason, activity.input_bytes) == ("stage 7", "failed", 5)
    assert activity.end_us - activity.start_us == 19_000


def test_its_activity_says_what_the_scheduler_knows_of_it() -> None:
    made = Scheduling()
    copy = ended(
        *(3, 1, 20),
        attempt=2,
        speculative=True,
        successful=False,
        killed=True,
        locality=Locality.ANY,
        waited_ms=700,
    )
    made.add_tasks(said(copy))
    (activity,) = made.close(WINDOW).of(QUERY).activities
    assert activity.task == TaskFacts(
        stage=7,
        stage_attempt=STAGE.attempt,
        attempt=2,
        locality=Locality.ANY,
        speculative=True,
        successful=False,
        stateful=True,
        result=True,
        kind=1,
        waited_ms=700,
    )


def test_of_many_tasks_only_the_slowest_of_a_window_is_an_activity() -> None:
    made = Scheduling()
    many = [ended(at, 0, 1 + at % 40) for at in range(FEW_TASKS_PER_S)]
    made.add_tasks(said(*many, ended(999, 0, 45)))
    (slowest,) = made.close(WINDOW).of(QUERY).activities
    assert slowest.end_us - slowest.start_us == 45_000
    for quiet in range(1, 20):
        made.close(WINDOW + quiet)
    made.add_tasks(said(ended(1000, 1000, 1001), ended(1001, 1000, 1002)))
    assert len(made.close(WINDOW + 20).of(QUERY).activities) == 2


def test_who_joined_and_who_died_is_told_once() -> None:
    made = Scheduling()
    joined = ExecutorChange("3", True, START_MS + 1, "node-c", 2)
    died = ExecutorChange("1", False, START_MS + 60, reason="lost")
    made.add_executor(joined)
    made.add_executor(died)
    assert [made.close(WINDOW + at).executors for at in range(3)] == [(joined,), (died,), ()]


def test_traffic_is_told_in_the_window_of_its_stages_end() -> None:
    made = Scheduling()
    traffic = replace(TRAFFIC, completed_ms=START_MS + 70)
    made.add_traffic(traffic)
    assert [made.close(WINDOW + at).of(QUERY).traffic for at in range(3)] == [(), (traffic,), ()]


def test_queries_are_kept_apart() -> None:
    other = Stage(8, 0, "other", RUN, 1)
    made = Scheduling()
    made.add_tasks(said(ended(1, 0, 20), ended(2, 0, 20, stage=other)))
    window = made.close(WINDOW)
    assert (window.of(QUERY).finished, window.of("other").finished) == (1, 1)
    assert window.of("third").finished == 0


def test_a_query_that_ended_is_forgotten() -> None:
    made = Scheduling()
    made.add_tasks(said(launched(1, 0), ended(2, 0, 100), tasks=9, waiting=5))
    made.add_traffic(replace(TRAFFIC, completed_ms=START_MS))
    made.forget(QUERY)
    assert made.close(WINDOW).queries == {}


def test_what_nobody_asks_for_does_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "MOST_FINISHED", 10)
    monkeypatch.setattr(scheduling, "MOST_STAGES", 3)
    made = Scheduling()
    for at in range(20):
        made.add_tasks(said(ended(at, 0, 10, stage=Stage(at, 0, QUERY))))
    window = made.close(WINDOW)
    assert window.of(QUERY).finished == 10
    assert made.lost_events == 10


spans = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), max_size=30)


@given(spans, st.integers(0, 3))
def test_every_task_finishes_once_and_no_millisecond_has_more_than_the_most(
    spans: list[tuple[int, int]], heard_in_window: int
) -> None:
    made = Scheduling()
    tasks = [ended(at, from_ms, from_ms + ms) for at, (from_ms, ms) in enumerate(spans)]
    windows = [made.close(WINDOW + at) for at in range(heard_in_window)]
    made.add_tasks(said(*tasks))
    windows += [made.close(WINDOW + at) for at in range(heard_in_window, 15)]
    assert sum(window.of(QUERY).finished for window in windows) == len(tasks)
    for at in range(heard_in_window, 15):
        moments = range(START_MS + at * WINDOW_MS, START_MS + (at + 1) * WINDOW_MS)
        most = max(sum(t.launch_ms <= now < t.finish_ms for t in tasks) for now in moments)
        counted = sum(each.tasks for each in windows[at].of(QUERY).running)
        instant = any(t.launch_ms == t.finish_ms and t.launch_ms in moments for t in tasks)
        assert counted == max(most, int(instant))


@given(st.lists(st.integers(0, 400), min_size=1, max_size=20))
def test_time_spent_waiting_is_what_lies_between_submission_and_launch(waits: list[int]) -> None:
    made = Scheduling()
    tasks = [launched(at, wait_ms) for at, wait_ms in enumerate(waits)]
    made.add_tasks(said(*tasks))
    windows = [made.close(WINDOW + at).of(QUERY) for at in range(10)]
    assert sum(each.waited_ms for w in windows for each in w.waiting) == sum(waits)

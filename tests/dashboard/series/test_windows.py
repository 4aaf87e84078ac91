from dataclasses import replace

import pytest

from collectors.formats.buckets import Histogram
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.wire import (
    Batch,
    ExecutorSample,
    Frame,
    Health,
    OperatorState,
    TaskCounts,
    encode,
)
from dashboard.series import windows
from dashboard.store import Entry
from tests.factories import START_MS, frame


def test_every_column_has_one_row_per_window() -> None:
    columns = windows.columns("job", [frame(at, (10, 20)) for at in range(3)], 0)
    assert columns["t"] == [START_MS, START_MS + 50, START_MS + 100]
    for column in (*columns["latency"].values(), *columns["committed"].values()):
        assert column == "record" or len(column) == 3
    assert len(columns["rows_in"]) == len(columns["backlog_rows"]) == 3


def test_percentiles_are_read_in_milliseconds() -> None:
    latencies = tuple(range(1, 1001))
    latency = windows.columns("job", [frame(0, latencies)], 0)["latency"]
    assert latency["source"] == "record"
    assert latency["count"] == [1000]
    expected_ms = {"p50": 500, "p90": 900, "p95": 950, "p99": 990, "p999": 999, "max": 1000}
    for name, ms in expected_ms.items():
        assert abs(latency[name][0] - ms) <= ms * 0.01


def test_a_window_without_records_has_no_percentiles() -> None:
    latency = windows.columns("job", [frame(0), frame(1, (5,))], 0)["latency"]
    assert latency["p99"][0] is None
    assert latency["count"] == [0, 1]


def test_committed_latencies_are_columns_like_the_processed_ones() -> None:
    committed = Histogram.of(ms * 1000 for ms in range(1, 101))
    columns = windows.columns("job", [frame(0, (5,)), frame(1, committed=committed)], 0)
    assert columns["committed"].keys() == columns["latency"].keys() - {"source"}
    assert columns["committed"]["count"] == [0, 100]
    assert columns["committed"]["p50"][0] is None
    for name, expected_ms in {"p50": 50, "p95": 95, "max": 100}.items():
        assert abs(columns["committed"][name][1] - expected_ms) <= expected_ms * 0.01


def test_without_stamps_a_batch_speaks_for_its_rows() -> None:
    batch = Batch(1, START_MS - 900, 900, 40)
    latency = windows.columns("job", [frame(0), frame(1, batches=(batch,))], 0)["latency"]
    assert latency["source"] == "batch"
    assert latency["count"] == [0, 40]
    assert abs(latency["p50"][1] - 900) <= 9


def test_a_stamped_job_is_not_taken_for_an_unstamped_one_between_its_records() -> None:
    batch = Batch(1, START_MS - 900, 900, 40)
    latency = windows.columns("job", [frame(0, batches=(batch,), stamped=True)], 0)["latency"]
    assert latency["source"] == "record"
    assert latency["p50"] == [None]


def test_an_empty_range_says_so() -> None:
    columns = windows.columns("job", [], 2)
    assert columns["latency"]["source"] == "none"
    assert columns["t"] == []
    assert columns["collector"]["unreadable"] == 2


def test_an_executors_cpu_is_in_percent_of_one_core() -> None:
    first = (
        ExecutorSample("1", "node-a", {5: 50_000}),
        ExecutorSample("2", "node-a", {5: 75_000}),
        ExecutorSample("driver", "node-b", {1: 100}),
    )
    second = (ExecutorSample("2", "node-a", {5: 5_000}),)
    frames = [frame(0, executors=first), frame(1, executors=second)]
    assert windows.columns("job", frames, 0)["process_cpu"] == {
        "1": [100.0, None],
        "2": [150.0, 10.0],
    }


def test_tasks_that_run_and_wait_are_columns() -> None:
    tasks = TaskCounts(running=3, waiting=5)
    columns = windows.columns("job", [frame(0), replace(frame(1), tasks=tasks)], 0)
    assert columns["tasks"] == {"running": [0, 3], "waiting": [0, 5]}


def test_executors_of_one_host_show_as_one_host() -> None:
    samples = (
        ExecutorSample("1", "node-a", {1: 400}),
        ExecutorSample("2", "node-a", {1: 420}),
        ExecutorSample("3", "node-b", {}),
    )
    cpu = windows.columns("job", [frame(0, executors=samples), frame(1)], 0)["cpu"]
    assert cpu == {"node-a": [42.0, None]}


def test_the_state_of_each_operator_is_a_column() -> None:
    frames = [frame(0, state=(OperatorState(0, 4, 2, 5),)), frame(1, state=(OperatorState(1, 1),))]
    assert windows.columns("job", frames, 0)["state"] == {
        "flushes": {"0": [4, None], "1": [None, 1]},
        "compactions": {"0": [2, None], "1": [None, 0]},
        "l0_files": {"0": [5, None], "1": [None, None]},
    }


def test_the_collectors_own_losses_and_load_are_those_of_the_newest_frame() -> None:
    loads = [CollectorLoad(1, 1, 1, 9_000, 1), CollectorLoad(20, 30, 4, 10_250, 5_000)]
    frames = [
        frame(0, health=Health(1, 1, 1, 1), collector=loads[0]),
        frame(1, health=Health(5, 6, 7, 8, 9, 10, 11), collector=loads[1]),
    ]
    assert windows.columns("job", frames, unreadable=2)["collector"] == {
        "dropped": 5,
        "late": 6,
        "lost_parts": 7,
        "lost_records": 8,
        "lost_events": 9,
        "unreadable": 12,
        "skipped_windows": 11,
        "shipped_frames": 20,
        "shipped_activities": 30,
        "waiting": 4,
        "busy_share": 0.025,
        "resident_bytes": 5_000,
    }


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [frame(0, collector=CollectorLoad(cpu_us=5))],
        [frame(0), frame(1, collector=CollectorLoad(cpu_us=5))],
        [frame(0, collector=CollectorLoad(cpu_us=5)), frame(1)],
        [frame(0, collector=CollectorLoad(cpu_us=5)), frame(1, collector=CollectorLoad(cpu_us=4))],
    ],
    ids=["no frames", "one frame", "older first", "older last", "restarted"],
)
def test_how_busy_the_collector_was_is_not_guessed(frames: list[Frame]) -> None:
    assert windows.columns("job", frames, 0)["collector"]["busy_share"] is None


def test_a_frame_of_an_earlier_collector_has_no_load() -> None:
    collector = windows.columns("job", [frame(0)], 0)["collector"]
    assert collector["shipped_frames"] is None
    assert collector["resident_bytes"] is None


def test_frames_that_cannot_be_read_are_counted_and_passed_over() -> None:
    stored = [
        Entry(START_MS, encode(frame(0))),
        Entry(START_MS + 50, b"garbage"),
        Entry(START_MS + 100, b"\xc7\x63"),
        Entry(START_MS + 150, b""),
        Entry(START_MS + 200, encode(frame(4))),
    ]
    frames, unreadable = windows.read(stored)
    assert frames == [frame(0), frame(4)]
    assert unreadable == 3

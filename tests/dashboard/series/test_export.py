import csv
import io
from collections.abc import Sequence

from collectors.formats.buckets import Histogram
from collectors.formats.metrics import BY_NAME
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample
from collectors.formats.wire import Batch, ExecutorSample, Frame, OperatorState, TaskCounts
from dashboard.series.export import Shape, lines
from tests.factories import START_MS, frame

HOST_CPU, PROCESS_CPU = (BY_NAME[name].id for name in ("host_cpu", "process_cpu_us"))
NODE_A = ExecutorSample("1", "node-a", {HOST_CPU: 400, PROCESS_CPU: 75_000})


def table(shape: Shape, *pieces: Sequence[Frame]) -> list[dict[str, str]]:
    text = lines([shape.names()]) + b"".join(lines(shape.rows(piece)) for piece in pieces)
    return list(csv.DictReader(io.StringIO(text.decode())))


def test_a_row_has_a_cell_for_every_name() -> None:
    first = [frame(0, (10, 20), executors=(NODE_A,), backlog_rows=7)]
    second = [frame(1, state=(OperatorState(0, 4, 2, 5),), batches=(Batch(1, START_MS, 9, 30),))]
    shape = Shape().widened(first).widened(second)
    top, bottom = table(shape, first, second)
    assert top["time_utc"] == "2023-11-14T22:13:20.000Z"
    assert top["start_epoch_ms"] == str(START_MS)
    assert (top["latency_source"], top["latency_count_records"]) == ("record", "2")
    assert abs(float(top["latency_p99_ms"]) - 20) < 0.2
    assert (top["host_cpu_percent/node-a"], top["flushes/operator_0"]) == ("40.0", "")
    assert (top["backlog_rows"], bottom["backlog_rows"]) == ("7", "")
    assert bottom["time_utc"] == "2023-11-14T22:13:20.050Z"
    assert (bottom["latency_count_records"], bottom["latency_p99_ms"]) == ("0", "")
    assert bottom["host_cpu_percent/node-a"] == ""
    assert bottom["rows_in_rows"] == "30"
    assert [bottom[f"{name}/operator_0"] for name in ("flushes", "compactions", "l0_files")] == [
        "4",
        "2",
        "5",
    ]


def test_what_the_page_can_show_of_a_window_is_in_its_row() -> None:
    late = Histogram.of([900_000, 950_000])
    made = [
        frame(
            0, (10, 20), committed=late, executors=(NODE_A,), tasks=TaskCounts(running=3, waiting=9)
        )
    ]
    (row,) = table(Shape().widened(made), made)
    assert row["committed_count_records"] == "2"
    assert abs(float(row["committed_p99_ms"]) - 950) < 9.5
    assert float(row["committed_max_ms"]) > 20 > float(row["latency_p50_ms"])
    assert (row["tasks_running"], row["tasks_waiting"]) == ("3", "9")
    assert row["executor_cpu_percent/1"] == "150.0"


def test_a_window_in_which_nothing_was_committed_has_no_committed_latency() -> None:
    made = [frame(0, (10,))]
    (row,) = table(Shape().widened(made), made)
    assert (row["committed_count_records"], row["committed_p99_ms"]) == ("0", "")


def test_a_piece_without_stamps_does_not_turn_a_stamped_range_into_one_of_batches() -> None:
    stamped = [frame(0, (10,))]
    not_yet = [frame(1, batches=(Batch(1, START_MS, 900, 30),))]
    shape = Shape().widened(stamped).widened(not_yet)
    assert [row["latency_p50_ms"] != "" for row in table(shape, stamped, not_yet)] == [True, False]


def test_a_range_without_frames_is_a_table_without_rows() -> None:
    shape = Shape().widened([])
    assert shape.end_ms == 0
    assert table(shape) == []


def test_a_host_with_a_comma_stays_one_column() -> None:
    odd = [frame(0, executors=(ExecutorSample("1", 'a,"b"', {1: 10}),))]
    shape = Shape().widened(odd)
    assert table(shape, odd)[0]['host_cpu_percent/a,"b"'] == "1.0"


def test_every_instance_of_a_pool_has_its_columns() -> None:
    worked = InstanceSample(
        0,
        InstanceState.READY,
        queued=3,
        busy_us=25_000,
        latency=Histogram.of([30_000]),
        parked=7,
        weight=4_000,
    )
    idle = InstanceSample(0, InstanceState.READY)
    pool = PoolSample("scores", "node-a", 0, ("score",), (idle, worked))
    before, after = [frame(0)], [frame(1, pools=(pool,))]
    shape = Shape().widened(before).widened(after)
    top, bottom = table(shape, before, after)
    names = [f"pool_{name}/scores@node-a/" for name in ("queued_chunks", "busy_percent", "p99_ms")]
    assert [top[f"{name}score-1"] for name in names] == ["", "", ""]
    assert [bottom[f"{name}score-0"] for name in names] == ["0", "0.0", ""]
    assert [bottom[f"{name}score-1"] for name in names[:2]] == ["3", "50.0"]
    assert abs(float(bottom[f"{names[2]}score-1"]) - 30) < 0.3
    assert bottom["pool_outgoing_chunks/scores@node-a/score-1"] == "7"
    assert float(bottom["pool_weight_percent/scores@node-a/score-1"]) == 40

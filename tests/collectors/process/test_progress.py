import json
from typing import Any

import pytest

from collectors.formats.codec import Garbled
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import Batch
from collectors.process.events.offsets import LONGEST_NAME, PartitionOffsets
from collectors.process.events.progress import LONGEST_SINK, parse

# As Spark 4.3 sends it, shortened.
EVENT: dict[str, Any] = {
    "id": "eae662f7-7f39-4d53-babf-2f91cfe9e5ec",
    "runId": "b63c324a-38f1-4221-8417-b6129454136b",
    "name": "ranking",
    "timestamp": "2026-11-16T07:30:00.250Z",
    "batchId": 9,
    "numInputRows": 2000,
    "durationMs": {
        "addBatch": 696,
        "commitOffsets": 40,
        "getBatch": 0,
        "latestOffset": 1,
        "queryPlanning": 31,
        "triggerExecution": 807,
        "walCommit": 38,
    },
    "sources": [{"description": "RateStreamV2[rowsPerSecond=2000]", "endOffset": 14}],
    "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
}


def event(**changes: object) -> bytes:
    return json.dumps({**EVENT, **changes}).encode()


def test_a_batch_has_its_start_its_rows_and_its_phases() -> None:
    progress = parse(event())
    assert (progress.query_id, progress.run_id) == (EVENT["id"], EVENT["runId"])
    assert progress.batch == Batch(9, 1794814200250, 807, 2000, (1, 0, 31, 38, 696, 40))
    assert progress.backlog_rows is None


def test_a_trigger_that_found_nothing_is_no_batch() -> None:
    assert parse(event(durationMs={"latestOffset": 2, "triggerExecution": 3})).batch is None


def test_the_backlog_of_kafka_is_what_lies_between_its_offsets() -> None:
    source = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {"0": 100, "1": 50}},
        "latestOffset": {"orders": {"0": 130, "1": 50, "2": 7}},
    }
    assert parse(event(sources=[source])).backlog_rows == 37


def test_offsets_that_are_plain_numbers_are_not_taken_for_rows() -> None:
    source = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    assert parse(event(sources=[source])).backlog_rows is None


@pytest.mark.parametrize(
    ("start", "rows", "behind"), [(30, 10, 15), (30, 11, None), (None, 40, None), (40, 0, None)]
)
def test_offsets_that_move_by_one_a_row_count_rows(
    start: int | None, rows: int, behind: int | None
) -> None:
    tape = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    source = {**tape, "startOffset": start, "numInputRows": rows}
    assert parse(event(sources=[source])).backlog_rows == behind


def test_the_rows_of_several_sources_add_up_where_they_are_told() -> None:
    kafka = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {"0": 100}},
        "latestOffset": {"orders": {"0": 130}},
    }
    tape = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    rows = {"startOffset": 30, "numInputRows": 10}
    told = parse(event(sources=[kafka, {**tape, **rows}, EVENT["sources"][0]]))
    assert told.backlog_rows == 45
    assert parse(event(sources=[kafka, tape, EVENT["sources"][0]])).backlog_rows == 30


@pytest.mark.parametrize(
    "offsets",
    [
        {"endOffset": 4},
        {"endOffset": None, "latestOffset": 9},
        {"endOffset": {"logOffset": 3}, "latestOffset": {"logOffset": 4}},
        {"endOffset": "a1", "latestOffset": "b2"},
        {"endOffset": True, "latestOffset": True},
        {"endOffset": {"shard": {"0": "a1"}}, "latestOffset": {"shard": {"0": "b2"}}},
        {"endOffset": {"shard": [1]}, "latestOffset": {"shard": {"0": 5}}},
    ],
)
def test_offsets_that_are_no_numbers_say_nothing(offsets: dict[str, Any]) -> None:
    source = {"description": "KafkaV2[odd]", **offsets}
    assert parse(event(sources=[source])).backlog_rows is None


def test_the_sink_is_what_spark_calls_it() -> None:
    assert parse(event()).sink == "ForeachBatchSink"


@pytest.mark.parametrize("sink", [None, {}, {"description": None}, {"description": 7}, "console"])
def test_a_sink_without_a_description_is_not_known(sink: object) -> None:
    assert parse(event(sink=sink)).sink == ""


def test_of_a_sink_that_talks_only_the_beginning_is_kept_and_it_fits_into_a_frame() -> None:
    talks = "\ud800" + "x" * 1000
    assert parse(event(sink={"description": talks})).sink == "?" + "x" * (LONGEST_SINK - 1)


def test_each_partition_of_a_topic_has_its_offsets() -> None:
    source = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {"0": 100}},
        "latestOffset": {"orders": {"0": 130, "2": 7}},
    }
    progress = parse(event(sources=[EVENT["sources"][0], source]))
    assert progress.offsets == (
        PartitionOffsets(1, "orders-0", 100, 130),
        PartitionOffsets(1, "orders-2", 0, 7),
    )
    # Offsets are from when the batch was planned.
    assert progress.planned_ms == 1794814200251


def test_a_source_of_plain_numbers_is_one_partition_by_its_own_name() -> None:
    tape = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    told = parse(event(sources=[{**tape, "startOffset": 30, "numInputRows": 10}]))
    assert told.offsets == (PartitionOffsets(0, "Tape", 40, 55),)


def test_names_of_partitions_fit_into_a_frame() -> None:
    source = {
        "description": "KafkaV2[odd]",
        "endOffset": {},
        "latestOffset": {"\ud800" + "x" * 500: {"0": 7}},
    }
    [told] = parse(event(sources=[source])).offsets
    assert told.partition == "?" + "x" * (LONGEST_NAME - 1) + "-0"


# As Spark 4.3 sends it, shortened: an aggregation with RocksDB, and a join in the heap.
OPERATORS = [
    {
        "operatorName": "stateStoreSave",
        "numRowsTotal": 599,
        "numRowsUpdated": 10,
        "memoryUsedBytes": 9192,
        "numStateStoreInstances": 2,
        "customMetrics": {"rocksdbPinnedBlocksMemoryUsage": 176, "rocksdbSstFileSize": 13612},
    },
    {
        "operatorName": "symmetricHashJoin",
        "numRowsTotal": 40,
        "memoryUsedBytes": 2048,
        "customMetrics": {"stateOnCurrentVersionSizeBytes": 1024},
    },
]


def test_each_stateful_operator_has_its_rows_and_bytes() -> None:
    [rocks, heap] = parse(event(stateOperators=OPERATORS)).state_sizes
    assert rocks == StateSize(0, "stateStoreSave", 599, 9192, 13612)
    assert heap == StateSize(1, "symmetricHashJoin", 40, 2048)
    assert (rocks.state_bytes, heap.state_bytes) == (13612, 2048)


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ({"numRowsTotal": -1}, StateSize(0, "stateStoreSave", None, 9192, 13612)),
        ({"memoryUsedBytes": "much"}, StateSize(0, "stateStoreSave", 599, 0, 13612)),
        ({"customMetrics": None}, StateSize(0, "stateStoreSave", 599, 9192)),
        ({"operatorName": 7}, StateSize(0, "", 599, 9192, 13612)),
    ],
)
def test_what_is_odd_about_an_operator_is_left_out(
    odd: dict[str, Any], expected: StateSize
) -> None:
    told = parse(event(stateOperators=[{**OPERATORS[0], **odd}]))
    assert told.state_sizes == (expected,)


@pytest.mark.parametrize("told", [None, {}, [], [None], "two"])
def test_a_query_without_state_has_no_sizes(told: object) -> None:
    assert parse(event(stateOperators=told)).state_sizes == ()


@pytest.mark.parametrize(
    "payload", [b"", b"{}", b"[]", b"\xff", event(durationMs=None), event(sources=[3])]
)
def test_what_is_no_progress_event_is_garbled(payload: bytes) -> None:
    with pytest.raises(Garbled):
        parse(payload)

import json
from typing import Any

import pytest

from collectors.formats.codec import Garbled
from collectors.formats.wire import Batch
from collectors.process.events.progress import StateOperator, parse

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
    progress = parse(event(sources=[source]))
    assert (progress.offsets_behind, progress.backlog_rows) == (15, None)


@pytest.mark.parametrize(
    ("start", "rows", "behind"), [(30, 10, 15), (30, 11, None), (None, 40, None), (40, 0, None)]
)
def test_offsets_that_move_by_one_a_row_count_rows(
    start: int | None, rows: int, behind: int | None
) -> None:
    tape = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    source = {**tape, "startOffset": start, "numInputRows": rows}
    assert parse(event(sources=[source])).backlog_rows == behind


def test_the_offsets_of_several_sources_add_up_where_they_are_told() -> None:
    kafka = {
        "description": "KafkaV2[Subscribe[orders]]",
        "endOffset": {"orders": {"0": 100}},
        "latestOffset": {"orders": {"0": 130}},
    }
    tape = {"description": "Tape[reel 7]", "endOffset": 40, "latestOffset": 55}
    progress = parse(event(sources=[kafka, tape, EVENT["sources"][0]]))
    assert (progress.offsets_behind, progress.backlog_rows) == (45, 30)


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
    progress = parse(event(sources=[{"description": "KafkaV2[odd]", **offsets}]))
    assert (progress.offsets_behind, progress.backlog_rows) == (None, None)


def test_a_source_of_files_tells_how_many_are_left() -> None:
    source = {"description": "FileStreamSource[in]", "metrics": {"numFilesOutstanding": "12"}}
    assert parse(event(sources=[source])).files_behind == 12
    assert parse(event()).files_behind is None


@pytest.mark.parametrize(("told", "known"), [(7, 7), (0, 0), (-1, None), (None, None)])
def test_rows_out_are_known_where_the_sink_counts(told: int | None, known: int | None) -> None:
    sink = {"description": "ForeachBatchSink", "numOutputRows": told}
    assert parse(event(sink=sink)).rows_out == known


def test_each_stateful_operator_tells_its_rows_its_commit_and_its_memory() -> None:
    told = {
        "operatorName": "stateStoreSave",
        "numRowsTotal": 500,
        "numRowsUpdated": 20,
        "numRowsRemoved": 4,
        "commitTimeMs": 83,
        "memoryUsedBytes": 90_112,
        "numRowsDroppedByWatermark": 3,
        "customMetrics": {"rocksdbGetCount": 40},
    }
    operators = parse(event(stateOperators=[told, {"operatorName": "dedupe"}])).operators
    assert operators == (
        StateOperator("stateStoreSave", 500, 20, 3, 83, 90_112),
        StateOperator("dedupe", 0, 0, 0, 0, 0),
    )


@pytest.mark.parametrize(
    "payload", [b"", b"{}", b"[]", b"\xff", event(durationMs=None), event(sources=[3])]
)
def test_what_is_no_progress_event_is_garbled(payload: bytes) -> None:
    with pytest.raises(Garbled):
        parse(payload)

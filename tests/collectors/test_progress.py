import json
from typing import Any

import pytest

from collectors.codec import Garbled
from collectors.progress import parse
from collectors.wire import Batch

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


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b"\xff", event(durationMs=None)])
def test_what_is_no_progress_event_is_garbled(payload: bytes) -> None:
    with pytest.raises(Garbled):
        parse(payload)

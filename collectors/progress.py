"""Spark's progress events, reduced to what a frame carries."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from collectors.codec import Garbled
from collectors.wire import PHASES, Batch


@dataclass(frozen=True)
class Progress:
    query_id: str
    run_id: str
    batch: Batch | None
    backlog_rows: int | None


def parse(payload: bytes) -> Progress:
    try:
        event = json.loads(payload)
        return Progress(
            query_id=event["id"],
            run_id=event["runId"],
            batch=_batch(event),
            backlog_rows=_backlog_rows(event["sources"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise Garbled(f"a progress event without {error}") from error


def _batch(event: Mapping[str, Any]) -> Batch | None:
    durations_ms = event["durationMs"]
    # Spark also reports triggers that found nothing to do: those are no micro-batches.
    if "addBatch" not in durations_ms:
        return None
    return Batch(
        batch_id=event["batchId"],
        start_ms=round(datetime.fromisoformat(event["timestamp"]).timestamp() * 1000),
        duration_ms=durations_ms["triggerExecution"],
        rows_in=event["numInputRows"],
        phases_ms=tuple(max(0, durations_ms.get(phase, 0)) for phase in PHASES),
    )


def _backlog_rows(sources: list[Mapping[str, Any]]) -> int | None:
    """Rows between what the sources have and what the batch took, where their offsets are numbers.

    Kafka tells topic → partition → offset; rows are what lies between. Sources whose offsets are
    not counts of rows (the rate source counts seconds) say nothing here.
    """
    behind = [rows for source in sources if (rows := _rows_behind(source)) is not None]
    return sum(behind) if behind else None


def _rows_behind(source: Mapping[str, Any]) -> int | None:
    if not str(source.get("description", "")).startswith("Kafka"):
        return None
    end, latest = source.get("endOffset"), source.get("latestOffset")
    if not isinstance(end, dict) or not isinstance(latest, dict):
        return None
    rows = 0
    for topic, partitions in latest.items():
        for partition, offset in partitions.items():
            rows += max(0, offset - end.get(topic, {}).get(partition, 0))
    return rows

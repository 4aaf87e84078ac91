"""Spark's progress events, reduced to what a frame carries."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from collectors.formats.codec import Garbled
from collectors.formats.wire import PHASES, Batch

# A description may have the whole configuration of a sink in it.
LONGEST_SINK = 200


@dataclass(frozen=True)
class Progress:
    """One progress event. Values that are not known are None, never 0.

    `backlog_rows` is what the sources have and the batch did not take: the sum over the sources
    whose offsets count rows. `sink` is Spark's description of the sink, empty if it gives none.
    """

    query_id: str
    run_id: str
    batch: Batch | None
    backlog_rows: int | None
    sink: str = ""


def parse(payload: bytes) -> Progress:
    try:
        event = json.loads(payload)
        sources = event["sources"]
        return Progress(
            query_id=event["id"],
            run_id=event["runId"],
            batch=_batch(event),
            backlog_rows=_known_sum(map(_rows_behind, sources)),
            sink=_sink(event.get("sink")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
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


def _sink(told: Any) -> str:
    description = told.get("description") if isinstance(told, dict) else None
    if not isinstance(description, str):
        return ""
    # JSON may hold half a surrogate pair, which no frame can.
    return description[:LONGEST_SINK].encode(errors="replace").decode()


def _known_sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _rows_behind(source: Mapping[str, Any]) -> int | None:
    """Returns the rows that the source has and the batch did not read, or None if unknown.

    Kafka's offsets count rows. For other sources we assume so if offsets advance with the rows.
    """
    rows = source.get("numInputRows")
    moved = _distance(source.get("startOffset"), source.get("endOffset"))
    if (rows and rows == moved) or str(source.get("description", "")).startswith("Kafka"):
        return _distance(source.get("endOffset"), source.get("latestOffset"))
    return None


def _distance(end: Any, latest: Any) -> int | None:
    """Returns the distance between two offsets: numbers, or Kafka's topic → partition → number.

    A partition that the batch did not know yet counts with all its rows. Other formats give None.
    """
    if _is_number(latest) and _is_number(end):
        return max(0, int(latest) - int(end))
    if not isinstance(latest, dict) or not isinstance(end, dict):
        return None
    behind = 0
    for topic, partitions in latest.items():
        taken = end.get(topic, {})
        if not isinstance(partitions, dict) or not isinstance(taken, dict):
            return None
        for partition, offset in partitions.items():
            before = taken.get(partition, 0)
            if not _is_number(offset) or not _is_number(before):
                return None
            behind += max(0, offset - before)
    return behind


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

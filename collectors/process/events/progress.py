"""Spark's progress events, reduced to what a frame carries."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from collectors.formats.codec import Garbled
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import PHASES, Batch
from collectors.process.events import offsets
from collectors.process.events.offsets import PartitionOffsets

# A description may have the whole configuration of a sink in it.
LONGEST_SINK = 200
LONGEST_OPERATOR = 40


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
    # When the micro-batch was planned, which is when `offsets` were true of the sources.
    planned_ms: int = 0
    # Of all sources whose offsets count rows.
    offsets: tuple[PartitionOffsets, ...] = ()
    newest_event_ms: int | None = None
    state_sizes: tuple[StateSize, ...] = ()


def parse(payload: bytes) -> Progress:
    try:
        event = json.loads(payload)
        told = [offsets.of_source(at, source) for at, source in enumerate(event["sources"])]
        return Progress(
            query_id=event["id"],
            run_id=event["runId"],
            batch=_batch(event),
            backlog_rows=_known_sum(map(_rows_behind, told)),
            sink=_sink(event.get("sink")),
            planned_ms=_start_ms(event) + (_natural(event["durationMs"].get("latestOffset")) or 0),
            offsets=tuple(each for partitions in told for each in partitions or ()),
            newest_event_ms=_newest_event_ms(event.get("eventTime")),
            state_sizes=_state_sizes(event.get("stateOperators")),
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
        start_ms=_start_ms(event),
        duration_ms=durations_ms["triggerExecution"],
        rows_in=event["numInputRows"],
        phases_ms=tuple(max(0, durations_ms.get(phase, 0)) for phase in PHASES),
    )


def _start_ms(event: Mapping[str, Any]) -> int:
    return round(datetime.fromisoformat(event["timestamp"]).timestamp() * 1000)


def _sink(told: Any) -> str:
    return _text(told.get("description") if isinstance(told, dict) else None)[:LONGEST_SINK]


def _known_sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _rows_behind(partitions: tuple[PartitionOffsets, ...] | None) -> int | None:
    return None if partitions is None else sum(each.behind_rows for each in partitions)


def _newest_event_ms(told: Any) -> int | None:
    """Reads the newest event time of the batch, which Spark tells if the query has a watermark."""
    newest = told.get("max") if isinstance(told, dict) else None
    try:
        return round(datetime.fromisoformat(newest).timestamp() * 1000) if newest else None
    except (TypeError, ValueError, OverflowError):
        return None  # an event time that is no time of this world: a frame goes on without it


def _state_sizes(told: Any) -> tuple[StateSize, ...]:
    """Reads what Spark tells of its stateful operators; what is odd is left out, the rest stays."""
    operators = told if isinstance(told, list) else []
    return tuple(
        StateSize(
            operator=number,
            name=_text(each.get("operatorName"))[:LONGEST_OPERATOR],
            rows=_natural(each.get("numRowsTotal")),
            memory_bytes=_natural(each.get("memoryUsedBytes")) or 0,
            file_bytes=_natural(_custom(each).get("rocksdbSstFileSize")),
        )
        for number, each in enumerate(operators)
        if isinstance(each, dict)
    )


def _custom(operator: Mapping[str, Any]) -> Mapping[str, Any]:
    found = operator.get("customMetrics")
    return found if isinstance(found, dict) else {}


def _natural(value: Any) -> int | None:
    is_one = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_one else None


def _text(value: Any) -> str:
    # JSON may hold half a surrogate pair, which no frame can.
    return value.encode(errors="replace").decode() if isinstance(value, str) else ""

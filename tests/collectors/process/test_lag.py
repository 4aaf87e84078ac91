"""The age of the oldest unread record, from progress events as Spark sends them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.lag import MOST_NAMED, Basis, Lag, PartitionLag
from collectors.process.events.progress import Progress, parse
from collectors.process.lag import MOST_POINTS, LagTracker, OffsetTimes

START_MS = 1_794_814_200_000
SECOND = 1_000


def kafka(second: int, end: dict[str, int], latest: dict[str, int], **changes: Any) -> Progress:
    """A micro-batch of half a second that began `second` seconds after the first, in the words of
    Spark's documentation of the Kafka source."""
    minutes, seconds = divmod(second, 60)
    rows = changes.pop("rows", 100)
    event = {
        "id": "eae662f7-7f39-4d53-babf-2f91cfe9e5ec",
        "runId": "b63c324a-38f1-4221-8417-b6129454136b",
        "name": "orders",
        "timestamp": f"2026-11-16T07:{30 + minutes}:{seconds:02d}.000Z",
        "batchId": second,
        "batchDuration": 500,
        "numInputRows": rows,
        "inputRowsPerSecond": 100.0,
        "processedRowsPerSecond": 200.0,
        "durationMs": {"addBatch": 400, "latestOffset": 0, "triggerExecution": 500},
        "stateOperators": [],
        "sources": [
            {
                "description": "KafkaV2[Subscribe[orders]]",
                "startOffset": {"orders": dict.fromkeys(end, 0)},
                "endOffset": {"orders": end},
                "latestOffset": {"orders": latest},
                "numInputRows": rows,
                "inputRowsPerSecond": 100.0,
                "processedRowsPerSecond": 200.0,
                "metrics": {
                    "avgOffsetsBehindLatest": "15.0",
                    "estimatedTotalBytesBehindLatest": "80.0",
                    "maxOffsetsBehindLatest": "30",
                    "minOffsetsBehindLatest": "0",
                },
            }
        ],
        "sink": {"description": "ForeachBatchSink", "numOutputRows": -1},
        **changes,
    }
    return parse(json.dumps(event).encode())


def at(tracker: LagTracker, second: float) -> Lag:
    found = tracker.at(round(START_MS + second * SECOND))
    assert found is not None
    return found


def test_a_query_that_has_read_everything_is_not_behind() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 100, "1": 50}, {"0": 100, "1": 50}))
    assert at(tracker, 9) == Lag(0, Basis.OFFSETS, partitions=2)


def test_the_oldest_unread_record_is_as_old_as_the_moment_the_source_had_that_many_rows() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 1_000}, {"0": 1_000}))
    tracker.add(kafka(10, {"0": 1_500}, {"0": 2_000}))
    # A hundred rows a second: the 1 500th came five seconds after the first event.
    assert at(tracker, 12) == Lag(7_000, Basis.OFFSETS, 1, (PartitionLag("orders-0", 500),))


def test_the_lag_grows_with_the_clock_while_a_batch_takes_long_and_falls_when_it_is_done() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 1_000}, {"0": 1_000}))
    tracker.add(kafka(10, {"0": 1_500}, {"0": 2_000}))
    assert at(tracker, 30).lag_ms == 25_000
    tracker.add(kafka(30, {"0": 4_000}, {"0": 4_000}))
    assert at(tracker, 31) == Lag(0, Basis.OFFSETS, partitions=1)


def test_the_partition_that_is_furthest_behind_in_time_counts() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 0, "1": 0}, {"0": 0, "1": 0}))
    tracker.add(kafka(10, {"0": 900, "1": 10}, {"0": 1_000, "1": 20}))
    # A hundred rows of a busy partition are one second; ten rows of the other are five.
    worst = (PartitionLag("orders-0", 100), PartitionLag("orders-1", 10))
    assert at(tracker, 10) == Lag(5_000, Basis.OFFSETS, 2, worst)


def test_of_many_partitions_the_furthest_behind_are_named_and_all_are_counted() -> None:
    tracker = LagTracker()
    end = {str(number): 0 for number in range(100)}
    tracker.add(kafka(0, end, {str(number): number for number in range(100)}))
    found = at(tracker, 0)
    assert found.partitions == 100
    assert [each.rows for each in found.worst] == list(range(99, 99 - MOST_NAMED, -1))
    assert found.worst[0].partition == "orders-99"


def test_a_backlog_from_before_the_run_is_not_dated_at_first() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 100}, {"0": 90_000}))
    assert at(tracker, 5) == Lag(None, Basis.NONE, 1, (PartitionLag("orders-0", 89_900),))


def test_a_backlog_from_before_the_run_is_dated_by_event_time_if_there_is_a_watermark() -> None:
    event_time = {"max": "2026-11-16T07:20:00.500Z", "watermark": "2026-11-16T07:19:00.000Z"}
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 100}, {"0": 90_000}, eventTime=event_time))
    # From the newest event of the batch to its end; that does not grow between batches.
    assert at(tracker, 5).lag_ms == at(tracker, 50).lag_ms == 600_000
    assert at(tracker, 5).basis is Basis.EVENT_TIME


def test_a_backlog_from_before_the_run_is_estimated_from_the_rate_once_there_is_one() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 100}, {"0": 90_000}))
    tracker.add(kafka(9, {"0": 200}, {"0": 90_900}))
    assert at(tracker, 9).basis is Basis.NONE
    tracker.add(kafka(20, {"0": 300}, {"0": 92_000}))
    # A hundred rows a second, and 91 700 of them.
    assert at(tracker, 20) == Lag(917_000, Basis.RATE, 1, (PartitionLag("orders-0", 91_700),))


def test_once_the_old_backlog_is_read_the_offsets_tell_again() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 0}, {"0": 1_000}))
    tracker.add(kafka(10, {"0": 1_500}, {"0": 2_000}))
    assert at(tracker, 10) == Lag(5_000, Basis.OFFSETS, 1, (PartitionLag("orders-0", 500),))


def test_a_trigger_that_found_nothing_to_read_is_not_behind_whatever_the_source() -> None:
    tracker = LagTracker()
    files = [{"description": "FileStreamSource[file:/in]", "endOffset": {"logOffset": 3}}]
    tracker.add(kafka(0, {}, {}, sources=files))
    assert tracker.at(START_MS) is None
    idle = {"latestOffset": 2, "triggerExecution": 3}
    tracker.add(kafka(1, {}, {}, sources=files, durationMs=idle, rows=0))
    assert at(tracker, 60) == Lag(0, Basis.OFFSETS)


def test_a_topic_that_was_made_anew_is_not_dated_by_the_old_one() -> None:
    tracker = LagTracker()
    tracker.add(kafka(0, {"0": 5_000}, {"0": 5_000}))
    tracker.add(kafka(10, {"0": 5}, {"0": 90}))
    assert at(tracker, 10).basis is Basis.NONE


@pytest.mark.parametrize("event_time", [None, {}, {"max": "soon"}, {"max": 7}, "now"])
def test_an_event_time_that_cannot_be_read_is_none(event_time: object) -> None:
    assert kafka(0, {}, {}, eventTime=event_time).newest_event_ms is None


arrivals = st.lists(st.integers(0, 500), min_size=2, max_size=300)


@given(arrivals, st.data())
def test_however_long_it_is_watched_the_time_is_that_of_two_looks_around_the_record(
    came: list[int], data: st.DataObject
) -> None:
    """Rows come in bursts each second; the query reads up to somewhere and never more."""
    times, latest, seen = OffsetTimes(), 0, [(0, 0)]
    times.see(0, 0, 0)
    end = data.draw(st.integers(0, sum(came)))
    for second, rows in enumerate(came, 1):
        latest += rows
        seen.append((second * SECOND, latest))
        times.see(second * SECOND, latest, min(end, latest))
        assert len(times.points) <= MOST_POINTS + 1
    found = times.came_ms(end)
    if end == latest:
        assert found is None
        return
    assert found is not None
    # The points that are left are some of those that were seen, in order and around the record.
    assert times.points == sorted(times.points)
    assert set(times.points) <= set(seen)
    before = max(at_ms for at_ms, rows in times.points if rows <= end)
    after = min(at_ms for at_ms, rows in times.points if rows > end)
    assert before <= found <= after

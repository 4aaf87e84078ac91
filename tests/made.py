"""Frames and announcements for tests that need some."""

from dataclasses import replace
from uuid import UUID

from collectors.activity import Activity, Kind
from collectors.announcement import Announcement
from collectors.buckets import Histogram
from collectors.wire import (
    WINDOW_MS,
    Batch,
    ExecutorSample,
    Frame,
    Health,
    OperatorState,
    Shuffled,
    TaskCounts,
)

RUN_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
START_MS = 1_700_000_000_000

ANNOUNCEMENT = Announcement(
    job_id="orders.scored",
    application="orders",
    query="scored",
    run_id=str(RUN_ID),
    application_id="local-1",
    spark_version="4.3.0",
    driver_host="node-a",
    started_ms=START_MS,
    heartbeat_ms=START_MS + 1_000,
)


def announcement(**changes: object) -> Announcement:
    return replace(ANNOUNCEMENT, **changes)  # type: ignore[arg-type]


def frame(at: int = 0, latencies_ms: tuple[int, ...] = (), **changes: object) -> Frame:
    """The frame `at` windows after START_MS."""
    made = Frame(
        window=START_MS // WINDOW_MS + at,
        sequence=at,
        run_id=RUN_ID,
        latency=Histogram.of(ms * 1000 for ms in latencies_ms),
        stamped=bool(latencies_ms),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


FULL_FRAME = Frame(
    window=34_000_000_000,
    sequence=300,
    run_id=RUN_ID,
    latency=Histogram.of([10, 1_000, 1_001, 250_000]),
    batches=(Batch(7, 1_699_999_999_000, 950, 4_000, (1, 2, 30, 20, 850, 25)),),
    executors=(ExecutorSample("1", "node-a", {1: 375, 2: -5}), ExecutorSample("2", "node-b", {})),
    health=Health(1, 2, 3, 4, 5, 6, 7),
    backlog_rows=1_234,
    stamped=True,
    state=(OperatorState(0, 4, 2, 5), OperatorState(1)),
    tasks=TaskCounts(1, 2, 3, 4, 5, 6),
    traffic=(Shuffled("1", "2", 1_000),),
)

ACTIVITIES = (
    Activity(
        Kind.COMPACTION,
        START_MS * 1000,
        START_MS * 1000 + 5_000_000,
        executor_id="1",
        operator=0,
        partition=3,
        name="default",
        reason="LevelL0FilesNum",
        input_bytes=1_048_576,
        output_bytes=524_288,
    ),
    Activity(Kind.GC, START_MS * 1000, START_MS * 1000 + 3_000, executor_id="1", name="G1y"),
)

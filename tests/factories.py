"""Frames and announcements for tests that need some."""

from dataclasses import replace
from uuid import UUID

from collectors.formats.activity import Activity, Kind
from collectors.formats.announcement import Announcement
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.buckets import Histogram
from collectors.formats.coarse_buckets import COARSE_BUCKETS, Coarse
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.lag import Basis, Lag, PartitionLag
from collectors.formats.latency import Source
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample, Sent
from collectors.formats.pulse import Pulse, Recent
from collectors.formats.slots import ExecutorSlots
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import (
    WINDOW_MS,
    Batch,
    ExecutorSample,
    Frame,
    Health,
    OperatorState,
    Shuffled,
    TaskCounts,
)
from techniques.slo.objective import LatencyTarget, Objective, Of

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


def p99_objective(threshold_ms: float) -> Objective:
    """What an SLO was before there were others: the p99 of processed records."""
    return Objective(LatencyTarget(threshold_ms, of=Of.PROCESSED))


SCORED = Histogram.of([19_000, 22_000])

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
    asked=Asked(7, True, (Applied("echo", "act", State.REFUSED, 7, "1: no"),)),
    collector=CollectorLoad(300, 5, 6, 557_056, 262_144),
    committed=Histogram.of([400_000, 900_000, 900_000, 900_001]),
    pools=(
        PoolSample(
            "scores",
            "node-a",
            policy=1,
            operators=("score", "rank"),
            instances=(
                InstanceSample(
                    0, InstanceState.READY, 3, 2, 0, 2_048, 2_048, 41_000, SCORED, 6, 3_300, 1, 2
                ),
                InstanceSample(0, InstanceState.DEAD),
                InstanceSample(1, InstanceState.STARTING),
            ),
            sent=(Sent(0, 0, 2), Sent(1, 2, 1)),
            held_chunks=5,
            replaced=1,
            handed_out_again=4,
            chunks_sent=7,
            replayed=3,
            replays_won=2,
            results_dropped=1,
            timeout_us=1_500,
            replay=1,
            tau_ms=80,
            shared_queued=(8, 9),
            room=(4, 5),
        ),
    ),
    warming_up=True,
    sink="ForeachBatchSink",
    slots=(ExecutorSlots("1", 4), ExecutorSlots("2", 2, leaving=True)),
    state_sizes=(StateSize(0, "dedupe", 1_000, 4_096, 70_000), StateSize(1, "session", None, 5)),
    lag=Lag(
        12_345, Basis.OFFSETS, 12, (PartitionLag("orders-3", 900), PartitionLag("orders-1", 7))
    ),
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


def coarse(sum_us: int, *counts: int) -> Coarse:
    """These counts in the first buckets, nothing in the others."""
    return Coarse(counts + (0,) * (COARSE_BUCKETS - len(counts)), sum_us)


PULSE = Pulse(
    source=Source.RECORD,
    processed=coarse(31_754, 2, 3),
    batch_durations=coarse(10_000, 0, 0, 1),
    rows_in=4_000,
    batches=7,
    flushes=3,
    compactions=2,
    failed_tasks=1,
    health=Health(1, 2, 3, 4, 5, 6, 7),
    load=CollectorLoad(300, 5, 6, 557_056, 262_144),
    busy_share=0.03,
    backlog_rows=0,
    recent=Recent(START_MS, (136_168, None, 31_753)),
    warming_up=True,
)

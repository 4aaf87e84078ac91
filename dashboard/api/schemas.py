"""Schemas of what the API returns about windows. Times are epoch ms, durations ms."""

from typing import Any

from ninja import Field, Schema
from pydantic import create_model

from dashboard.series import executor_columns

# Why the answer may lack older data, though the job sent them.
INCOMPLETE: Any = Field(description="why older data may be missing here; null if none is")


class PercentilesOut(Schema):
    """Latency percentiles of the records that were counted in each window."""

    count: list[int]
    p50: list[float | None]
    p90: list[float | None]
    p95: list[float | None]
    p99: list[float | None]
    p999: list[float | None]
    max: list[float | None]


class LatencyOut(PercentilesOut):
    """From event to `stamp`; without stamps (source "batch") the duration of the records' batch."""

    source: str


class BatchOut(Schema):
    batch_id: int
    start_ms: int
    end_ms: int
    rows: int


class ActivityOut(Schema):
    kind: str
    start_ms: float
    end_ms: float
    executor: str
    operator: int | None
    partition: int | None
    name: str
    reason: str
    input_bytes: int | None
    output_bytes: int | None


class ActivitiesOut(Schema):
    """Flushes, compactions, GC pauses, batches … that overlap the range, by their start."""

    job: str
    items: list[ActivityOut]
    unreadable: int
    incomplete: str | None = INCOMPLETE


class CollectorOut(Schema):
    """Totals of the run at its last heartbeat; null if the collector does not report them."""

    dropped: int
    late: int
    lost_parts: int
    lost_records: int
    lost_events: int
    unreadable: int
    skipped_windows: int
    shipped_frames: int | None
    shipped_activities: int | None
    waiting: int | None
    busy_share: float | None
    resident_bytes: int | None


class ExecutorMetricOut(Schema):
    """One metric, a column per executor. docs/metrics.md lists the metrics."""

    job: str
    window_ms: int
    metric: str
    unit: str
    t: list[int]
    executors: dict[str, list[int | None]]
    incomplete: str | None = INCOMPLETE


class StateOut(Schema):
    """By operator: how many of its state stores flushed or compacted at once; files on level 0."""

    flushes: dict[str, list[int | None]]
    compactions: dict[str, list[int | None]]
    l0_files: dict[str, list[int | None]]


class TasksOut(Schema):
    """The job's tasks: how many ran at once at most, and how many waited at the window's end."""

    running: list[int]
    waiting: list[int]


class PoolInstanceOut(Schema):
    """`busy` is percent of the window, `p99` ms from being sent to it to being done, `parked` the
    results in its outgoing queue, `weight` its percentage of its operator's chunks (null if no
    dispatcher weighs), `signal` 1 where it may send."""

    name: str
    operator: str
    state: str
    queued: list[int | None]
    busy: list[float | None]
    executed: list[int | None]
    p99: list[float | None]
    parked: list[int | None]
    weight: list[float | None]
    signal: list[int | None]


class PoolOut(Schema):
    """An operator pool of the application on one host; single values are of the last window.

    `timeout` is in ms, null if there is none. Of each window, `sent` has the chunks sent for the
    first time, `replayed` those sent once more, `won` the replays whose result came first."""

    name: str
    host: str
    policy: str
    operators: list[str]
    replaced: int
    handed_out_again: int
    replay: str
    tau_ms: int
    held_chunks: list[int | None]
    timeout: list[float | None]
    sent: list[int | None]
    replayed: list[int | None]
    won: list[int | None]
    shared_queued: list[int | None]
    instances: list[PoolInstanceOut]


class _SecondsOut(Schema):
    """What changes slowly, with a time axis `t` of its own: about one row a second.

    Memory is in bytes by executor, `state_rows` and `state_bytes` by operator, whose names are in
    `operators`. `lag_ms` is the age of the oldest record that was not read, `lag_basis` what it was
    made from (offsets, event_time, rate or none); `lag_rows` has the rows of the source partitions
    that are furthest behind, `lag_partitions` how many there are."""

    t: list[int]
    state_rows: dict[str, list[int | None]]
    state_bytes: dict[str, list[int | None]]
    operators: dict[str, str]
    lag_ms: list[int | None]
    lag_basis: list[str | None]
    lag_partitions: list[int | None]
    lag_rows: dict[str, list[int | None]]


_SELDOM_COLUMNS: dict[str, Any] = {
    column.name: (executor_columns.Values, ...) for column in executor_columns.SELDOM
}
SecondsOut = create_model(
    "SecondsOut", __base__=_SecondsOut, __doc__=_SecondsOut.__doc__, **_SELDOM_COLUMNS
)


class _WindowsOut(Schema):
    """Columns of equal length, one row per 50 ms window, ascending by `t`."""

    job: str
    window_ms: int
    t: list[int]
    latency: LatencyOut
    committed: PercentilesOut
    tasks: TasksOut
    state: StateOut
    pools: list[PoolOut]
    rows_in: list[int | None]
    backlog_rows: list[int | None]
    batches: list[BatchOut]
    seconds: SecondsOut  # type: ignore[valid-type]  # its columns come from a table
    collector: CollectorOut
    incomplete: str | None = INCOMPLETE


_EXECUTOR_COLUMNS: dict[str, Any] = {
    column.name: (executor_columns.Values, ...) for column in executor_columns.COLUMNS
}
WindowsOut = create_model(
    "WindowsOut", __base__=_WindowsOut, __doc__=_WindowsOut.__doc__, **_EXECUTOR_COLUMNS
)


class RangeOut(Schema):
    start_ms: int
    end_ms: int


class _HistoryOut(Schema):
    """Columns of equal length, one row per step of `window_ms`, ascending by `t`.

    Percentiles are of all records of the step, `worst_p99` is the highest p99 of a single 50 ms
    window. Tasks, CPU, backlog, lag, memory (by executor) and state (by operator) are the highest
    of the step. `windows` is the number of
    50 ms windows that were received; `missing` are the ranges in which none was."""

    job: str
    window_ms: int
    t: list[int]
    windows: list[int]
    latency: LatencyOut
    worst_p99: list[float | None]
    committed: PercentilesOut
    tasks: TasksOut
    batch_count: list[int]
    longest_batch_ms: list[int | None]
    rows_in: list[int | None]
    backlog_rows: list[int | None]
    memory: dict[str, list[int | None]]
    resident: dict[str, list[int | None]]
    rocksdb_cache: dict[str, list[int | None]]
    rocksdb_memtables: dict[str, list[int | None]]
    state_bytes: dict[str, list[int | None]]
    state_rows: dict[str, list[int | None]]
    lag_ms: list[int | None]
    missing: list[RangeOut]
    incomplete: str | None = INCOMPLETE


HistoryOut = create_model(
    "HistoryOut", __base__=_HistoryOut, __doc__=_HistoryOut.__doc__, **_EXECUTOR_COLUMNS
)

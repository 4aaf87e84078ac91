"""What the API returns. Times are epoch milliseconds, durations milliseconds."""

from ninja import Schema


class RunOut(Schema):
    run_id: str
    application_id: str
    spark_version: str
    driver_host: str
    started_ms: int
    ended_ms: int | None
    end_reason: str


class JobOut(Schema):
    id: str
    application: str
    query: str
    state: str
    first_seen_ms: int
    last_seen_ms: int
    run: RunOut | None


class JobsOut(Schema):
    items: list[JobOut]
    count: int
    now_ms: int


class LatencyOut(Schema):
    source: str
    count: list[int]
    p50: list[float | None]
    p90: list[float | None]
    p99: list[float | None]
    p999: list[float | None]
    max: list[float | None]


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


class CollectorOut(Schema):
    dropped: int
    late: int
    lost_parts: int
    lost_records: int
    lost_events: int
    unreadable: int


class ExecutorMetricOut(Schema):
    """One metric, a column per executor. What there is: docs/metrics.md."""

    job: str
    window_ms: int
    metric: str
    unit: str
    t: list[int]
    executors: dict[str, list[int | None]]


class StateOut(Schema):
    """By operator: how many of its state stores flushed or compacted at once; files on level 0."""

    flushes: dict[str, list[int | None]]
    compactions: dict[str, list[int | None]]
    l0_files: dict[str, list[int | None]]


class TasksOut(Schema):
    """The job's tasks: the most that ran at once, and those that waited at the window's end."""

    running: list[int]
    waiting: list[int]


class WindowsOut(Schema):
    """Columns of equal length, one row per 50 ms window, ascending by `t`."""

    job: str
    window_ms: int
    t: list[int]
    latency: LatencyOut
    cpu: dict[str, list[float | None]]
    process_cpu: dict[str, list[float | None]]
    tasks: TasksOut
    state: StateOut
    rows_in: list[int | None]
    backlog_rows: list[int | None]
    batches: list[BatchOut]
    collector: CollectorOut

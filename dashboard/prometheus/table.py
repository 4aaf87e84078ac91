"""Every metric we expose: its name, its meaning, and where in a pulse or a frame to find it.

`docs/metrics.md` is checked against this table.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from collectors.formats.announcement import Announcement
from collectors.formats.coarse_buckets import Coarse
from collectors.formats.latency import Source
from collectors.formats.pulse import Pulse
from collectors.formats.wire import Frame
from dashboard.fleet.jobs import STALE_AFTER_MS


def runs(announced: Announcement, now_ms: int) -> bool:
    return not announced.ended_ms and now_ms - announced.heartbeat_ms < STALE_AFTER_MS


class Word(NamedTuple):
    """A metric from a job's announcement and the present time."""

    name: str
    meaning: str
    of: Callable[[Announcement, int], float]


class Histogram(NamedTuple):
    name: str
    meaning: str
    of: Callable[[Pulse], Coarse | None]


class Number(NamedTuple):
    name: str
    meaning: str
    of: Callable[[Pulse], float | None]


class Level(NamedTuple):
    """A metric of executors; `one` is how many of its units make one exposed unit."""

    name: str
    meaning: str
    metric: str
    one: float


class Slow(NamedTuple):
    """A gauge from the frame of a whole second: values, each with labels of its own."""

    name: str
    meaning: str
    of: Callable[[Frame], Iterator[tuple[Mapping[str, str], float]]]


def _lag(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
    if frame.lag and frame.lag.lag_ms is not None:
        yield {"basis": frame.lag.basis.name.lower()}, frame.lag.lag_ms / 1000


def _partitions(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
    if frame.lag and frame.lag.partitions:
        yield {}, frame.lag.partitions


def _lag_rows(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
    # Two sources may read the same topic, and a sample may be told once: the worst comes first.
    worst = {each.partition: each.rows for each in reversed(frame.lag.worst)} if frame.lag else {}
    for partition, rows in worst.items():
        yield {"partition": partition}, rows


def _state_rows(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
    for each in frame.state_sizes:
        if each.rows is not None:
            yield {"operator": str(each.operator), "name": each.name}, each.rows


def _state_bytes(frame: Frame) -> Iterator[tuple[Mapping[str, str], float]]:
    for each in frame.state_sizes:
        yield {"operator": str(each.operator), "name": each.name}, each.state_bytes


_SUM = "; the sum is that of the middles of fine buckets, within 0.8 %"
_SHARED = "; the same for all queries of an application, which share a collector"

WORDS = (
    Word(
        "curtail_job_up",
        "1 while it runs, 0 once it ended or fell silent",
        lambda a, now_ms: int(runs(a, now_ms)),
    ),
    Word(
        "curtail_job_start_timestamp_seconds",
        "When its run began",
        lambda announced, _now_ms: announced.started_ms / 1000,
    ),
    Word(
        "curtail_job_heartbeat_timestamp_seconds",
        "When it was last heard of",
        lambda announced, _now_ms: announced.heartbeat_ms / 1000,
    ),
)

HISTOGRAMS = (
    Histogram(
        "curtail_record_latency_seconds",
        "From a record's event time to its stamp" + _SUM,
        lambda p: p.processed if p.source is Source.RECORD else None,
    ),
    Histogram(
        "curtail_committed_latency_seconds",
        "From a record's event time to the commit of its batch" + _SUM,
        lambda p: p.committed if p.committed.count else None,
    ),
    Histogram(
        "curtail_batch_duration_seconds",
        "Micro-batches, from trigger to commit" + _SUM,
        lambda p: p.batch_durations,
    ),
)

COUNTERS = (
    Number("curtail_rows_total", "Rows read by micro-batches", lambda p: p.rows_in),
    Number("curtail_batches_total", "Micro-batches that ended", lambda p: p.batches),
    Number("curtail_state_flushes_total", "RocksDB flushes that ended", lambda p: p.flushes),
    Number(
        "curtail_state_compactions_total",
        "RocksDB compactions that ended",
        lambda p: p.compactions,
    ),
    Number("curtail_tasks_failed_total", "Tasks that failed", lambda p: p.failed_tasks),
    Number(
        "curtail_collector_frames_shipped_total",
        "Frames that Redis has taken",
        lambda p: p.load.shipped_frames,
    ),
    Number(
        "curtail_collector_activities_shipped_total",
        "Activities (flushes, pauses, tasks …) that Redis has taken",
        lambda p: p.load.shipped_activities,
    ),
    Number(
        "curtail_collector_frames_dropped_total",
        "Frames and activities given up while Redis was away" + _SHARED,
        lambda p: p.health.dropped_frames,
    ),
    Number(
        "curtail_collector_parts_late_total",
        "Executors' reports that came after their window had closed",
        lambda p: p.health.late_parts,
    ),
    Number(
        "curtail_collector_parts_lost_total",
        "Executors' reports lost on their way to the collector" + _SHARED,
        lambda p: p.health.lost_parts,
    ),
    Number(
        "curtail_collector_records_lost_total",
        "Latencies overwritten in executors before they were read" + _SHARED,
        lambda p: p.health.lost_records,
    ),
    Number(
        "curtail_collector_events_lost_total",
        "Events of state stores and GC that were dropped" + _SHARED,
        lambda p: p.health.lost_events,
    ),
    Number(
        "curtail_collector_messages_unreadable_total",
        "Messages the collector could not read" + _SHARED,
        lambda p: p.health.unreadable_messages,
    ),
    Number(
        "curtail_collector_windows_skipped_total",
        "Windows without a frame, after a stall of the collector",
        lambda p: p.health.skipped_windows,
    ),
    Number(
        "curtail_collector_cpu_seconds_total",
        "CPU used by the collector's process" + _SHARED,
        lambda p: p.load.cpu_us / 1e6,
    ),
)

# Only for running jobs: a gauge must not show a past value.
GAUGES = (
    Number(
        "curtail_backlog_rows",
        "Rows the source has and the query has not read; where the source says so",
        lambda p: p.backlog_rows,
    ),
    Number(
        "curtail_collector_buffer_entries",
        "Frames and activities that wait to be sent" + _SHARED,
        lambda p: p.load.waiting_entries,
    ),
    Number(
        "curtail_collector_resident_bytes",
        "Memory of the collector's process" + _SHARED,
        lambda p: p.load.resident_bytes,
    ),
)

LEVELS = (
    Level(
        "curtail_executor_host_cpu_ratio",
        "Share of all cores in use on the executor's host, in the newest 50 ms",
        "host_cpu",
        1000,
    ),
    Level(
        "curtail_executor_heap_after_gc_bytes",
        "Heap in use after the executor's last collection",
        "heap_after_gc_bytes",
        1,
    ),
    Level(
        "curtail_executor_heap_max_bytes",
        "What the executor's heap may grow to",
        "heap_max_bytes",
        1,
    ),
    Level(
        "curtail_executor_clock_ahead_seconds",
        "The driver's clock less that of the executor's host",
        "clock_ahead_us",
        1e6,
    ),
    Level(
        "curtail_executor_container_memory_bytes",
        "Memory charged to the executor's container, cached files included",
        "container_memory_bytes",
        1,
    ),
    Level(
        "curtail_executor_container_reclaimable_bytes",
        "Of that, cached files that were not used lately",
        "container_reclaimable_bytes",
        1,
    ),
    Level(
        "curtail_executor_container_limit_bytes",
        "Memory that the executor's container may have; none without a limit",
        "container_limit_bytes",
        1,
    ),
    Level(
        "curtail_executor_resident_bytes",
        "Memory of the executor's process that is in RAM",
        "process_resident_bytes",
        1,
    ),
    Level(
        "curtail_executor_rocksdb_cache_bytes",
        "Block caches of the executor's state stores; a shared one counts once",
        "rocksdb_cache_bytes",
        1,
    ),
    Level(
        "curtail_executor_rocksdb_pinned_bytes",
        "Of that, blocks that cannot be given up",
        "rocksdb_pinned_bytes",
        1,
    ),
    Level(
        "curtail_executor_rocksdb_memtables_bytes",
        "Memtables of the executor's state stores",
        "rocksdb_memtables_bytes",
        1,
    ),
    Level(
        "curtail_executor_rocksdb_readers_bytes",
        "Indexes and filters of the executor's state stores outside of their caches",
        "rocksdb_readers_bytes",
        1,
    ),
)

SLOW = (
    Slow(
        "curtail_lag_seconds",
        "Age of the oldest record that was not read; the basis says what it was made from",
        _lag,
    ),
    Slow(
        "curtail_lag_partitions",
        "Partitions of the sources that tell how far behind they are",
        _partitions,
    ),
    Slow(
        "curtail_lag_partition_rows",
        "Rows not read of the source partitions that are furthest behind, at most eight",
        _lag_rows,
    ),
    Slow("curtail_state_rows", "Rows in the state of an operator", _state_rows),
    Slow(
        "curtail_state_bytes",
        "Bytes of an operator's state: RocksDB's files, else memory",
        _state_bytes,
    ),
)

"""Every metric that a job announces: its name, its meaning, and where in a pulse to find it.

What comes from frames is in `dashboard.prometheus.levels`.
`docs/metrics.md` is checked against this table.
"""

from collections.abc import Callable
from typing import NamedTuple

from collectors.formats.announcement import Announcement
from collectors.formats.coarse_buckets import Coarse
from collectors.formats.latency import Source
from collectors.formats.pulse import Pulse
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

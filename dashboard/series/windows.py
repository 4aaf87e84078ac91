"""Frames as columns, for the API and the live feed: one row per window, ready to be drawn."""

from collections.abc import Iterable, Sequence
from typing import Any

from collectors.formats import latency, metrics
from collectors.formats.buckets import Histogram
from collectors.formats.codec import Garbled
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.keys import Entry
from collectors.formats.latency import Source
from collectors.formats.wire import WINDOW_MS, Batch, Frame, Health, Only, decode
from dashboard.series import executor_columns, pool_columns, seconds

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}


def read(stored: Iterable[Entry], only: Only | None = None) -> tuple[list[Frame], int]:
    """The frames that can be read, and the number of those that cannot."""
    frames: list[Frame] = []
    unreadable = 0
    for entry in stored:
        try:
            frames.append(decode(entry.payload, only))
        except Garbled:
            unreadable += 1
    return frames, unreadable


def in_place(stored: Iterable[Entry], only: Only) -> tuple[list[tuple[Entry, Frame]], int]:
    """The readable frames whose window matches their entry's id, and the number of all others.

    Ids of a stream only increase, so these frames are in order; a frame of another window than its
    id says could shift a history to any time."""
    found: list[tuple[Entry, Frame]] = []
    others = 0
    for entry in stored:
        try:
            frame = decode(entry.payload, only)
        except Garbled:
            others += 1
            continue
        if frame.start_ms == entry.at_ms:
            found.append((entry, frame))
        else:
            others += 1
    return found, others


def columns(
    job_id: str, frames: Sequence[Frame], unreadable: int, source: Source | None = None
) -> dict[str, Any]:
    """`source`: that of the whole range, if these frames are only a piece of it."""
    source = source or latency.source_of(frames)
    return {
        "job": job_id,
        "window_ms": WINDOW_MS,
        "t": [frame.start_ms for frame in frames],
        "latency": {"source": source, **_percentiles([latency.of(f, source) for f in frames])},
        "committed": _percentiles([frame.committed for frame in frames]),
        **executor_columns.columns(frames),
        "state": _state(frames),
        "pools": pool_columns.columns(frames),
        "tasks": {
            "running": [frame.tasks.running for frame in frames],
            "waiting": [frame.tasks.waiting for frame in frames],
        },
        "rows_in": [sum(b.rows_in for b in f.batches) if f.batches else None for f in frames],
        "backlog_rows": [frame.backlog_rows for frame in frames],
        "batches": [_batch(batch) for frame in frames for batch in frame.batches],
        "seconds": seconds.columns(frames),
        "collector": _collector(frames, unreadable),
    }


def executor_metric(job_id: str, metric: metrics.Metric, frames: Sequence[Frame]) -> dict[str, Any]:
    """One metric of every executor, a row per window."""
    rows = [{s.executor_id: s.metrics.get(metric.id) for s in frame.executors} for frame in frames]
    executors = sorted({executor for row in rows for executor in row})
    return {
        "job": job_id,
        "window_ms": WINDOW_MS,
        "metric": metric.name,
        "unit": metric.unit,
        "t": [frame.start_ms for frame in frames],
        "executors": {executor: [row.get(executor) for row in rows] for executor in executors},
    }


def _percentiles(histograms: Sequence[Histogram]) -> dict[str, list[float | int | None]]:
    rows = [histogram.quantiles_us(QUANTILES.values()) for histogram in histograms]
    found: dict[str, list[float | int | None]] = {"count": [h.count for h in histograms]}
    for at, name in enumerate(QUANTILES):
        found[name] = [ms(row[at]) for row in rows]
    return found


def ms(us: float | None) -> float | None:
    return None if us is None else round(us / 1000, 3)


def _state(frames: Sequence[Frame]) -> dict[str, dict[str, list[int | None]]]:
    """Per operator: how many of its state stores flushed or compacted at once; files on level 0."""
    operators = sorted({each.operator for frame in frames for each in frame.state})
    rows = [{each.operator: each for each in frame.state} for frame in frames]
    return {
        name: {
            str(operator): [getattr(row.get(operator), name, None) for row in rows]
            for operator in operators
        }
        for name in ("flushes", "compactions", "l0_files")
    }


def _collector(frames: Sequence[Frame], unreadable: int) -> dict[str, int | float | None]:
    health = frames[-1].health if frames else Health()
    load = frames[-1].collector if frames else None
    return collector(health, load, _busy_share(frames), unreadable)


def collector(
    health: Health, load: CollectorLoad | None, busy_share: float | None, unreadable: int = 0
) -> dict[str, int | float | None]:
    return {
        "dropped": health.dropped_frames,
        "late": health.late_parts,
        "lost_parts": health.lost_parts,
        "lost_records": health.lost_records,
        "lost_events": health.lost_events,
        "unreadable": unreadable + health.unreadable_messages,
        "skipped_windows": health.skipped_windows,
        "shipped_frames": load.shipped_frames if load else None,
        "shipped_activities": load.shipped_activities if load else None,
        "waiting": load.waiting_entries if load else None,
        "busy_share": busy_share,
        "resident_bytes": load.resident_bytes if load else None,
    }


def _busy_share(frames: Sequence[Frame]) -> float | None:
    """The collector's CPU share of one core over these frames; None if one does not report it."""
    if not frames or not (before := frames[0].collector) or not (after := frames[-1].collector):
        return None
    elapsed_us = (frames[-1].start_ms - frames[0].start_ms) * 1000
    # CPU time that went down means that the collector was restarted in between.
    if elapsed_us <= 0 or after.cpu_us < before.cpu_us:
        return None
    return round((after.cpu_us - before.cpu_us) / elapsed_us, 6)


def _batch(batch: Batch) -> dict[str, int]:
    return {
        "batch_id": batch.batch_id,
        "start_ms": batch.start_ms,
        "end_ms": batch.end_ms,
        "rows": batch.rows_in,
    }

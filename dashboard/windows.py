"""Frames as columns, for the API and the live feed: one row per window, ready to be drawn."""

from collections.abc import Iterable, Sequence
from typing import Any

from collectors import metrics
from collectors.buckets import Histogram, index_of
from collectors.codec import Garbled
from collectors.wire import WINDOW_MS, Batch, Frame, Health, decode
from dashboard.store import Entry

HOST_CPU = metrics.BY_NAME["host_cpu"].id
PROCESS_CPU = metrics.BY_NAME["process_cpu_us"].id
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}


def read(stored: Iterable[Entry]) -> tuple[list[Frame], int]:
    """The frames that can be read, and the number of those that cannot."""
    frames: list[Frame] = []
    unreadable = 0
    for entry in stored:
        try:
            frames.append(decode(entry.payload))
        except Garbled:
            unreadable += 1
    return frames, unreadable


def columns(job_id: str, frames: Sequence[Frame], unreadable: int) -> dict[str, Any]:
    source = _source(frames)
    health = frames[-1].health if frames else Health()
    return {
        "job": job_id,
        "window_ms": WINDOW_MS,
        "t": [frame.start_ms for frame in frames],
        "latency": {"source": source, **_latency([_histogram(f, source) for f in frames])},
        "cpu": _cpu(frames),
        "process_cpu": _process_cpu(frames),
        "state": _state(frames),
        "tasks": {
            "running": [frame.tasks.running for frame in frames],
            "waiting": [frame.tasks.waiting for frame in frames],
        },
        "rows_in": [sum(b.rows_in for b in f.batches) if f.batches else None for f in frames],
        "backlog_rows": [frame.backlog_rows for frame in frames],
        "batches": [_batch(batch) for frame in frames for batch in frame.batches],
        "collector": {
            "dropped": health.dropped_frames,
            "late": health.late_parts,
            "lost_parts": health.lost_parts,
            "lost_records": health.lost_records,
            "lost_events": health.lost_events,
            "unreadable": unreadable + health.unreadable_messages,
        },
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


def _source(frames: Sequence[Frame]) -> str:
    """Records are stamped, or only batches are timed, or nothing completed in this range."""
    if any(frame.stamped for frame in frames):
        return "record"
    return "batch" if any(frame.batches for frame in frames) else "none"


def _histogram(frame: Frame, source: str) -> Histogram:
    if source != "batch":
        return frame.latency
    # Without stamp(): every row of a batch took as long as the batch.
    counts: dict[int, int] = {}
    for batch in frame.batches:
        index = index_of(batch.duration_ms * 1000)
        counts[index] = counts.get(index, 0) + max(1, batch.rows_in)
    return Histogram(counts)


def _latency(histograms: Sequence[Histogram]) -> dict[str, list[float | int | None]]:
    rows = [histogram.quantiles_us(QUANTILES.values()) for histogram in histograms]
    latency: dict[str, list[float | int | None]] = {"count": [h.count for h in histograms]}
    for at, name in enumerate(QUANTILES):
        latency[name] = [_ms(row[at]) for row in rows]
    return latency


def _ms(us: float | None) -> float | None:
    return None if us is None else round(us / 1000, 3)


def _cpu(frames: Sequence[Frame]) -> dict[str, list[float | None]]:
    """Percent per host; executors on one host report the same host, so the largest is taken."""
    hosts = sorted({sample.host for frame in frames for sample in frame.executors})
    return {host: [_host_cpu(frame, host) for frame in frames] for host in hosts}


def _host_cpu(frame: Frame, host: str) -> float | None:
    shares = [
        sample.metrics[HOST_CPU]
        for sample in frame.executors
        if sample.host == host and HOST_CPU in sample.metrics
    ]
    return max(shares) / 10 if shares else None


def _process_cpu(frames: Sequence[Frame]) -> dict[str, list[float | None]]:
    """Percent of one core per executor: 200 is two cores busy for the whole window."""
    rows = [
        {
            sample.executor_id: sample.metrics[PROCESS_CPU] / (WINDOW_MS * 10)
            for sample in frame.executors
            if PROCESS_CPU in sample.metrics
        }
        for frame in frames
    ]
    executors = sorted({executor for row in rows for executor in row})
    return {executor: [row.get(executor) for row in rows] for executor in executors}


def _state(frames: Sequence[Frame]) -> dict[str, dict[str, list[int | None]]]:
    """Per operator, how many of its state stores were at it at once."""
    operators = sorted({each.operator for frame in frames for each in frame.state})
    rows = [{each.operator: each for each in frame.state} for frame in frames]
    return {
        name: {
            str(operator): [getattr(row.get(operator), name, None) for row in rows]
            for operator in operators
        }
        for name in ("flushes", "compactions", "l0_files")
    }


def _batch(batch: Batch) -> dict[str, int]:
    return {
        "batch_id": batch.batch_id,
        "start_ms": batch.start_ms,
        "end_ms": batch.end_ms,
        "rows": batch.rows_in,
    }

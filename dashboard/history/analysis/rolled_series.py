"""A job's roll-ups as arrays, one value per step of the range; NaN (or "") where there is none."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dashboard.history.archive import Archive
from techniques.intervals import Floats, Ints

SECOND_MS, MINUTE_MS, HOUR_MS = 1_000, 60_000, 3_600_000
SECONDS = ("at_ms", "records", "p99_us")
MINUTES = ("at_ms", "p99_us")
HOURS = ("at_ms", "p99_us", "rows_in", "batches", "state_bytes", "release", "host_cpu")


@dataclass(frozen=True)
class Hours:
    start_ms: int
    p99_ms: Floats
    rows_per_batch: Floats
    state_bytes: Floats
    releases: tuple[str, ...]
    hosts: tuple[str, ...]


def table(
    archive: Archive, job_id: str, step_ms: int, start_ms: int, end_ms: int
) -> tuple[pa.Table, Ints]:
    """The roll-ups of the range with the columns that the analysis reads, and their times."""
    wanted = {SECOND_MS: SECONDS, MINUTE_MS: MINUTES, HOUR_MS: HOURS}[step_ms]
    rows = archive.read_columns(job_id, step_ms, start_ms, end_ms, wanted)
    return rows, rows["at_ms"].to_numpy().astype(np.int64)


def on_grid(rows: pa.Table, name: str, step_ms: int, start_ms: int, end_ms: int) -> Floats:
    values = np.full(-(-(end_ms - start_ms) // step_ms), np.nan)
    places = (rows["at_ms"].to_numpy() - start_ms) // step_ms
    values[places] = rows[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values


def hours(archive: Archive, job_id: str, start_ms: int, end_ms: int) -> Hours:
    """Whole hours only: a part of an hour has another p99 for no other reason."""
    first_ms, last_ms = -(-start_ms // HOUR_MS) * HOUR_MS, end_ms // HOUR_MS * HOUR_MS
    rows, at_ms = table(archive, job_id, HOUR_MS, first_ms, max(first_ms, last_ms))
    releases = [""] * max(0, (last_ms - first_ms) // HOUR_MS)
    for at, release in zip(at_ms.tolist(), rows["release"].to_pylist(), strict=True):
        releases[(at - first_ms) // HOUR_MS] = release or ""

    def values(name: str) -> Floats:
        return on_grid(rows, name, HOUR_MS, first_ms, max(first_ms, last_ms))

    with np.errstate(invalid="ignore", divide="ignore"):
        rows_per_batch = values("rows_in") / values("batches")
    return Hours(
        start_ms=first_ms,
        p99_ms=values("p99_us") / 1000,
        rows_per_batch=np.where(np.isfinite(rows_per_batch), rows_per_batch, np.nan),
        state_bytes=values("state_bytes"),
        releases=tuple(releases),
        hosts=_hosts(rows["host_cpu"]),
    )


def _hosts(by_host: pa.ChunkedArray) -> tuple[str, ...]:
    """Every host that a measurement names; without any, the job has no known host."""
    return tuple(sorted({host for row in by_host.to_pylist() for host, _ in row or ()}))

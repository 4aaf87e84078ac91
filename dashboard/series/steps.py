"""Rolled-up time as columns, for hours to months: one row per step, ready to be drawn.

Names are those of `series.windows` where the meaning is the same. A step that has no row is told
as missing, never as zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dashboard.history import bucket_columns, named_columns
from dashboard.history.bucket_columns import Floats
from dashboard.history.merging import MEASURES, QUANTILES, source_of, sources
from dashboard.history.rolled_schema import STEPS_MS
from dashboard.series import windows
from dashboard.series.executor_columns import COLUMNS

# A chart is about a thousand pixels wide: with fewer points its lines would look like stairs.
LEAST_POINTS = 500
# Frames come a moment after their window: the newest seconds are not missing, they are on the way.
ON_THE_WAY_MS = 10_000

# The columns by executor and by operator that `series.seconds` has in its own way, and of what.
BY_NAME = {
    "memory": "container_bytes",
    "resident": "resident_bytes",
    "rocksdb_cache": "rocksdb_cache_bytes",
    "rocksdb_memtables": "rocksdb_memtables_bytes",
    "state_bytes": "operator_bytes",
    "state_rows": "operator_rows",
}

NEEDED = (
    *("at_ms", "source", "windows", "records", *QUANTILES, "worst_p99_us", "committed"),
    *("batches", "longest_batch_ms", "rows_in", "backlog_rows", "running", "waiting"),
    *("host_cpu", "process_cpu", "lag_ms", *BY_NAME.values()),
)

_Column = list[float | int | None]


@dataclass(frozen=True)
class Steps:
    """A range of whole steps."""

    step_ms: int
    start_ms: int
    end_ms: int


def chosen(start_ms: int, end_ms: int) -> Steps:
    """The range in the coarsest steps of which it has enough, else in the finest."""
    enough = [step for step in STEPS_MS if (end_ms - start_ms) // step >= LEAST_POINTS]
    step_ms = max(enough, default=STEPS_MS[0])
    return Steps(step_ms, start_ms // step_ms * step_ms, -(-end_ms // step_ms) * step_ms)


def columns(job_id: str, steps: Steps, rolled: pa.Table, now_ms: int) -> dict[str, Any]:
    """The rows of `rolled`, which are ascending and of this step, as columns of equal length."""
    counted = sources(rolled) == sources(rolled).max(initial=0)
    times = rolled["at_ms"].to_numpy()
    return {
        "job": job_id,
        "window_ms": steps.step_ms,
        "t": times.tolist(),
        "windows": rolled["windows"].to_pylist(),
        "latency": {
            "source": source_of(rolled),
            "count": np.where(counted, _known(rolled, "records"), 0).astype(int).tolist(),
            **{
                name: _ms(np.where(counted, _known(rolled, column), np.nan))
                for name, column in zip(windows.QUANTILES, QUANTILES, strict=True)
            },
        },
        "worst_p99": _ms(np.where(counted, _known(rolled, "worst_p99_us"), np.nan)),
        "committed": _committed(rolled),
        **_by_executor(rolled),
        "tasks": {name: rolled[name].fill_null(0).to_pylist() for name in ("running", "waiting")},
        "batch_count": rolled["batches"].fill_null(0).to_pylist(),
        # As of a window: without a batch it is not known how many rows came.
        "rows_in": pc.if_else(
            pc.greater(rolled["batches"], 0), rolled["rows_in"], None
        ).to_pylist(),
        **{
            name: rolled[name].to_pylist()
            for name in ("longest_batch_ms", "backlog_rows", "lag_ms")
        },
        **{name: _whole(rolled[column]) for name, column in BY_NAME.items()},
        "missing": missing(times.tolist(), steps, now_ms),
    }


def missing(times_ms: Sequence[int], steps: Steps, now_ms: int) -> list[dict[str, int]]:
    """The ranges of whole steps that have no row and are over."""
    end_ms = min(steps.end_ms, (now_ms - ON_THE_WAY_MS) // steps.step_ms * steps.step_ms)
    found = []
    at_ms = steps.start_ms
    for next_ms in (*times_ms, end_ms):
        if next_ms > at_ms:
            found.append({"start_ms": at_ms, "end_ms": next_ms})
        at_ms = max(at_ms, next_ms + steps.step_ms)
    return found


def _known(rolled: pa.Table, name: str) -> Floats:
    values: Floats = rolled[name].cast(pa.float64()).to_numpy()
    return values


def _ms(us: Floats) -> _Column:
    return _column(np.round(us / 1000, 3))


def _column(values: Floats) -> _Column:
    """As a list with null for NaN, by Arrow: Python takes a second for ten columns of hours."""
    found: _Column = pa.array(values, from_pandas=True).to_pylist()
    return found


def _committed(rolled: pa.Table) -> dict[str, _Column]:
    histograms = bucket_columns.read(rolled["committed"])
    values = histograms.quantiles_us([*windows.QUANTILES.values()])
    return {
        "count": histograms.totals().tolist(),
        **{name: _ms(us) for name, us in zip(windows.QUANTILES, values, strict=True)},
    }


def _whole(column: pa.ChunkedArray) -> dict[str, list[int | None]]:
    """Bytes and rows by name."""
    return {
        name: [None if np.isnan(each) else int(each) for each in values.tolist()]
        for name, values in named_columns.read(column).by_name().items()
    }


def _by_executor(rolled: pa.Table) -> dict[str, dict[str, _Column]]:
    """The highest of each step; the very columns of `executor_columns`, by its units."""
    of_metric = {measure.metric: name for name, measure in MEASURES.items()}
    found = {}
    for column in COLUMNS:
        named = named_columns.read(rolled[of_metric[column.metric]]).by_name()
        found[column.name] = {
            name: _column(values / column.divisor) for name, values in named.items()
        }
    return found

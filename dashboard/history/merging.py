"""The row of a step from the rows below it: what is added, what is the highest, what is the best.

Adding and taking the highest may be done in any grouping, so a row of an hour is the same whether
it is made of minutes, of seconds or of windows.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collectors.formats.latency import Source
from dashboard.history.bucket_columns import Floats, Histograms
from dashboard.history.named_columns import Measure, Named
from dashboard.history.rolled_schema import PERCENTILES, ROLLED, fitted
from dashboard.history.varints import Ints
from dashboard.series.executor_columns import By

QUANTILES = dict(zip((*PERCENTILES, "max_us"), (0.5, 0.9, 0.95, 0.99, 0.999, 1.0), strict=True))

# The columns by host or executor, with the metric of which each has the highest value.
MEASURES = {
    "host_cpu": Measure("host_cpu", By.HOST),
    "process_cpu": Measure("process_cpu_us", By.EXECUTOR),
    "heap_bytes": Measure("heap_after_gc_bytes", By.EXECUTOR),
    "throttled_us": Measure("container_throttled_us", By.EXECUTOR),
    "disk_written_bytes": Measure("disk_written_bytes", By.HOST),
    "io_pressure_us": Measure("psi_io_full_us", By.HOST),
    "container_bytes": Measure("container_memory_bytes", By.EXECUTOR),
    "resident_bytes": Measure("process_resident_bytes", By.EXECUTOR),
    "rocksdb_cache_bytes": Measure("rocksdb_cache_bytes", By.EXECUTOR),
    "rocksdb_memtables_bytes": Measure("rocksdb_memtables_bytes", By.EXECUTOR),
}
# The columns by stateful operator.
OPERATORS = ("operator_bytes", "operator_rows")
NAMED = (*MEASURES, *OPERATORS)

# From worst to best, so that the best of some is the highest.
SOURCES = (Source.NONE, Source.BATCH, Source.RECORD)

ADDED = ("windows", "batches", "rows_in")
HIGHEST = (
    *("longest_batch_ms", "backlog_rows", "running", "waiting"),
    *("state_bytes", "state_rows", "lag_ms"),
)

Texts = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Rows:
    """What is merged, ascending by time: windows, or rows of a smaller step."""

    at_ms: Ints
    source: Ints
    latency: Histograms
    worst_p99_us: Floats
    committed: Histograms
    added: Mapping[str, Ints | Floats]
    highest: Mapping[str, Ints | Floats]
    release: Texts


def merged(step_ms: int, rows: Rows, measured: Callable[[Ints], Iterable[Named]]) -> pa.Table:
    """One row per step that has any, ascending.

    `measured` is given the group of each row and returns each group's highest of NAMED."""
    if not len(rows.at_ms):
        return ROLLED.empty_table()
    steps = rows.at_ms // step_ms
    first = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
    group: Ints = np.cumsum(np.diff(steps, prepend=steps[0]) > 0, dtype=np.int64)
    source = np.maximum.reduceat(rows.source, first)
    counted = rows.source == source[group]
    latency = rows.latency.where(counted).merged(group, len(first))
    last = np.append(first[1:], len(steps)) - 1
    found: dict[str, pa.Array] = {
        "at_ms": pa.array(steps[first] * step_ms),
        "source": pa.array([str(SOURCES[number]) for number in source]),
        "records": pa.array(latency.totals()),
        "worst_p99_us": _numbers(
            np.fmax.reduceat(np.where(counted, rows.worst_p99_us, np.nan), first)
        ),
        "latency": latency.column(),
        "committed": rows.committed.merged(group, len(first)).column(),
        "release": pa.array(rows.release[last], pa.string()),
    }
    for name, values in zip(QUANTILES, latency.quantiles_us([*QUANTILES.values()]), strict=True):
        found[name] = _numbers(values)
    for name, each in rows.added.items():
        found[name] = _numbers(np.add.reduceat(np.nan_to_num(each), first))
    for name, each in rows.highest.items():
        found[name] = _numbers(np.fmax.reduceat(each, first))
    for name, named in zip(NAMED, measured(group), strict=True):
        found[name] = named.column()
    return fitted(pa.table(found))


def _numbers(values: Ints | Floats) -> pa.Array:
    """NaN, which stands for *not known* here, is null in a table."""
    return pa.array(values, from_pandas=True)


def sources(rolled: pa.Table) -> Ints:
    """The source of each row, as a number that is higher the better it is."""
    number_of = {str(source): number for number, source in enumerate(SOURCES)}
    return np.array([number_of.get(each, 0) for each in rolled["source"].to_pylist()], np.int64)


def source_of(rolled: pa.Table) -> Source:
    """The source of a whole range."""
    return SOURCES[int(sources(rolled).max(initial=0))]

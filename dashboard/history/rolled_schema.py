"""One row of a roll-up: a job over one step of time (a second, a minute, an hour).

Numbers are columns of their own, so that weeks are scanned without decoding anything; the buckets
beside them keep the percentiles of any range of steps within 1 % (`collectors.formats.buckets`).
A null says "not known", as it does in a frame.
"""

import pyarrow as pa

STEPS_MS = (1_000, 60_000, 3_600_000)

# Highest value of the step, by host, executor (`collectors.formats.metrics`) or operator.
_BY_NAME = pa.map_(pa.string(), pa.float64())

PERCENTILES = ("p50_us", "p90_us", "p95_us", "p99_us", "p999_us")

_COLUMNS: dict[str, pa.DataType] = {
    "at_ms": pa.int64(),  # start of the step
    "windows": pa.int32(),  # how many 50 ms windows it holds; fewer than the step has: data missing
    "source": pa.string(),  # of the latencies (`collectors.formats.latency`)
    "records": pa.int64(),
    **dict.fromkeys(PERCENTILES, pa.float64()),  # of the merged buckets
    "max_us": pa.float64(),
    "worst_p99_us": pa.float64(),  # highest p99 of a single 50 ms window
    "batches": pa.int32(),
    "longest_batch_ms": pa.int64(),
    "rows_in": pa.int64(),
    "backlog_rows": pa.int64(),  # highest
    "running": pa.int32(),  # highest
    "waiting": pa.int32(),  # highest
    "host_cpu": _BY_NAME,  # permille, by host
    "process_cpu": _BY_NAME,  # µs in one window, by executor
    "heap_bytes": _BY_NAME,  # after the last collection, by executor
    "throttled_us": _BY_NAME,  # in one window, by executor
    "disk_written_bytes": _BY_NAME,  # in one window, by host
    "io_pressure_us": _BY_NAME,  # in one window, by host
    "container_bytes": _BY_NAME,  # by executor
    "resident_bytes": _BY_NAME,  # by executor
    "rocksdb_cache_bytes": _BY_NAME,  # by executor
    "rocksdb_memtables_bytes": _BY_NAME,  # by executor
    "operator_bytes": _BY_NAME,  # of state, by stateful operator
    "operator_rows": _BY_NAME,  # of state, by stateful operator
    "latency": pa.binary(),  # merged buckets
    "committed": pa.binary(),  # merged buckets
    "release": pa.string(),  # the run id
    "state_bytes": pa.int64(),  # highest, of all operators
    "state_rows": pa.int64(),  # highest, of all operators
    "lag_ms": pa.int64(),  # highest
}

ROLLED = pa.schema([pa.field(name, kind) for name, kind in _COLUMNS.items()])


def fitted(rolled: pa.Table) -> pa.Table:
    """Returns `rolled` with exactly the columns and types of `ROLLED`; absent ones are null."""
    if unknown := sorted(set(rolled.column_names) - set(ROLLED.names)):
        raise ValueError(f"a roll-up has no column {', '.join(unknown)}")
    if "at_ms" not in rolled.column_names:
        raise ValueError("a roll-up without at_ms")
    columns = [
        rolled[field.name].cast(field.type)
        if field.name in rolled.column_names
        else pa.nulls(len(rolled), field.type)
        for field in ROLLED
    ]
    return pa.table(columns, schema=ROLLED)

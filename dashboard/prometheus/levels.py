"""Every metric that comes from a job's frames: its name, its meaning, and where to find it.

`docs/metrics.md` is checked against this table.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from collectors.formats.wire import Frame


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

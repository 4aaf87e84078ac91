"""Every number an executor reports: its id on the wire, its unit, its source.

Each is reported per 50 ms window, but for those that are `seldom`: they change slowly, and are in
one frame a second.

Ids are for ever: a metric that goes away leaves a hole. The Scala twin is
`probe/machine/Metrics.scala`; `tests/collectors/formats/test_metrics.py` holds the two
together, and `docs/metrics.md` is checked against this table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    id: int
    name: str
    unit: str
    meaning: str
    source: str
    seldom: bool = False


METRICS = (
    Metric(1, "host_cpu", "permille", "share of all cores in use on the host", "/proc/stat"),
    Metric(2, "host_runnable", "threads", "running or waiting for a core", "/proc/loadavg"),
    Metric(3, "container_cpu_us", "µs", "CPU used by the container", "cgroup cpu.stat"),
    Metric(4, "container_throttled_us", "µs", "held back by the CPU quota", "cgroup cpu.stat"),
    Metric(5, "process_cpu_us", "µs", "CPU used by the JVM, all threads", "JVM and its threads"),
    Metric(6, "process_cores", "cores", "cores the JVM may use", "JVM, container-aware"),
    Metric(7, "psi_cpu_some_us", "µs", "somebody waited for a core", "/proc/pressure/cpu"),
    Metric(8, "psi_io_some_us", "µs", "somebody waited for I/O", "/proc/pressure/io"),
    Metric(9, "psi_io_full_us", "µs", "everybody waited for I/O", "/proc/pressure/io"),
    Metric(10, "psi_memory_some_us", "µs", "somebody waited for memory", "/proc/pressure/memory"),
    Metric(11, "disk_read_bytes", "bytes", "read by the host's disks", "/proc/diskstats"),
    Metric(12, "disk_written_bytes", "bytes", "written by the host's disks", "/proc/diskstats"),
    Metric(13, "network_received_bytes", "bytes", "received, without loopback", "/proc/net/dev"),
    Metric(14, "network_sent_bytes", "bytes", "sent, without loopback", "/proc/net/dev"),
    Metric(15, "heap_after_gc_bytes", "bytes", "in use after the last collection", "GC notices"),
    Metric(16, "heap_max_bytes", "bytes", "the heap may grow to", "JVM"),
    Metric(17, "safepoint_us", "µs", "all Java threads held, by what ended here", "JVM counters"),
    Metric(18, "clock_ahead_us", "µs", "the driver's clock less this host's", "RPC round trips"),
    Metric(
        19,
        "container_memory_bytes",
        "bytes",
        "memory of the container, with its files' cache",
        "cgroup memory.current",
        seldom=True,
    ),
    Metric(
        20,
        "container_reclaimable_bytes",
        "bytes",
        "of that, cached files not used lately",
        "cgroup memory.stat",
        seldom=True,
    ),
    Metric(
        21,
        "container_limit_bytes",
        "bytes",
        "memory that the container may have",
        "cgroup memory.max",
        seldom=True,
    ),
    Metric(
        22,
        "process_resident_bytes",
        "bytes",
        "memory of the JVM in RAM",
        "/proc/self/status",
        seldom=True,
    ),
    Metric(
        23,
        "rocksdb_cache_bytes",
        "bytes",
        "block caches of the state stores",
        "RocksDB block-cache-usage",
        seldom=True,
    ),
    Metric(
        24,
        "rocksdb_pinned_bytes",
        "bytes",
        "of that, blocks that cannot be given up",
        "RocksDB block-cache-pinned-usage",
        seldom=True,
    ),
    Metric(
        25,
        "rocksdb_memtables_bytes",
        "bytes",
        "memtables of the state stores",
        "RocksDB cur-size-all-mem-tables",
        seldom=True,
    ),
    Metric(
        26,
        "rocksdb_readers_bytes",
        "bytes",
        "indexes and filters outside of the caches",
        "RocksDB estimate-table-readers-mem",
        seldom=True,
    ),
)

BY_NAME = {metric.name: metric for metric in METRICS}
SELDOM = frozenset(metric.id for metric in METRICS if metric.seldom)

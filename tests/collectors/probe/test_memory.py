"""Memory of executors: each number is what the kernel, or RocksDB itself, says at the same time."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors.formats.metrics import BY_NAME, SELDOM
from tests.collectors.conftest import probe, stores
from tests.collectors.metrics_recorder import NAMES, MetricsRecorder, jvm, recorded_spark
from tests.collectors.stateful_job import PROVIDERS
from tests.waiting import until

pytestmark = pytest.mark.spark

ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}RocksDBStateStoreProvider",
    f"{ROCKSDB}.changelogCheckpointing.enabled": "true",
}
PROPERTIES = {
    "rocksdb_cache_bytes": "rocksdb.block-cache-usage",
    "rocksdb_pinned_bytes": "rocksdb.block-cache-pinned-usage",
    "rocksdb_memtables_bytes": "rocksdb.cur-size-all-mem-tables",
    "rocksdb_readers_bytes": "rocksdb.estimate-table-readers-mem",
}
OF_A_CACHE = ("rocksdb_cache_bytes", "rocksdb_pinned_bytes")

MOUNTS = """\
31 23 0:28 / {root} rw,relatime - tmpfs tmpfs rw,mode=755
34 31 0:31 / {root}/memory rw,relatime shared:9 - cgroup cgroup rw,memory
41 31 0:38 / {root}/unified rw,relatime - cgroup2 cgroup2 rw
"""


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> MetricsRecorder:
    return MetricsRecorder(tmp_path_factory.mktemp("memory"))


@pytest.fixture(scope="module")
def spark(recorder: MetricsRecorder) -> Iterator[SparkSession]:
    with recorded_spark(recorder) as session:
        for key, value in SETTINGS.items():
            session.conf.set(key, value)
        yield session


def path(spark: SparkSession, of: Path) -> Any:
    return jvm(spark).java.io.File(str(of)).toPath()


def sampled(source: Any) -> dict[str, int]:
    metrics = source.sample()
    found = [metrics.apply(at) for at in range(metrics.size())]
    return {NAMES[metric.id()]: metric.value() for metric in found}


def told(recorder: MetricsRecorder) -> dict[str, int]:
    """The seldom metrics as the newest part that has them says."""
    for part in reversed(recorder.parts()):
        if found := {NAMES[id_]: v for id_, v in part.metrics.items() if id_ in SELDOM}:
            return found
    return {}


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    [kilobytes] = re.findall(r"VmRSS:\s+(\d+) kB", status)
    return int(kilobytes) * 1024


def cgroup(spark: SparkSession, root: Path, group: str) -> Any:
    self, mounts = root / "self", root / "mountinfo"
    self.write_text(f"4:memory:{group}\n0::{group}\n")
    mounts.write_text(MOUNTS.format(root=root))
    return probe(spark).Cgroup(path(spark, self), path(spark, mounts))


@pytest.mark.parametrize(
    ("limit", "told"), [("1073741824\n", {"container_limit_bytes": 2**30}), ("max\n", {})]
)
def test_container_memory_is_counted_by_cgroup_v2(
    spark: SparkSession, tmp_path: Path, limit: str, told: dict[str, int]
) -> None:
    folder = tmp_path / "unified" / "pod"
    folder.mkdir(parents=True)
    (folder / "cgroup.type").write_text("domain\n")
    (folder / "memory.current").write_text("900000000\n")
    (folder / "memory.stat").write_text("anon 700\nfile 80\nactive_file 9\ninactive_file 71\n")
    (folder / "memory.max").write_text(limit)
    source = probe(spark).ContainerMemory(cgroup(spark, tmp_path, "/pod"))
    used = {"container_memory_bytes": 900_000_000, "container_reclaimable_bytes": 71}
    assert sampled(source) == {**used, **told}


@pytest.mark.parametrize(
    ("limit", "told"), [(2**30, {"container_limit_bytes": 2**30}), (2**63 - 4096, {})]
)
def test_container_memory_is_counted_by_cgroup_v1(
    spark: SparkSession, tmp_path: Path, limit: int, told: dict[str, int]
) -> None:
    folder = tmp_path / "memory" / "pod"
    folder.mkdir(parents=True)
    (folder / "memory.usage_in_bytes").write_text("900000000\n")
    (folder / "memory.stat").write_text("inactive_file 3\ntotal_inactive_file 71\n")
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    source = probe(spark).ContainerMemory(cgroup(spark, tmp_path, "/pod"))
    used = {"container_memory_bytes": 900_000_000, "container_reclaimable_bytes": 71}
    assert sampled(source) == {**used, **told}


def test_resident_memory_is_what_the_kernel_says_of_the_process(
    spark: SparkSession, recorder: MetricsRecorder
) -> None:
    pid = jvm(spark).java.lang.ProcessHandle.current().pid()

    def agree() -> bool:
        seen = told(recorder).get("process_resident_bytes", 0)
        return seen == pytest.approx(resident_bytes(pid), rel=0.02)

    # They are read up to a second apart, and the JVM goes on meanwhile.
    until(agree, timeout_s=60)


def test_what_changes_slowly_is_told_once_a_second(
    spark: SparkSession, recorder: MetricsRecorder
) -> None:
    resident = BY_NAME["process_resident_bytes"].id

    def looks() -> int:
        """Windows that follow each other with one value share a look, as after a pause."""
        told = {p.window: p.metrics[resident] for p in recorder.parts() if resident in p.metrics}
        return sum(told.get(window - 1) != value for window, value in told.items())

    until(lambda: looks() > 5, timeout_s=60)
    # The sampler looks at the end of a window, which is in the next second for the last one.
    assert looks() <= len({part.window // 20 for part in recorder.parts()}) + 1


def started(spark: SparkSession, folder: Path) -> StreamingQuery:
    (folder / "in").mkdir()
    (folder / "in" / "1.txt").write_text("\n".join(map(str, range(10_000))))
    return (
        spark.readStream.text(str(folder / "in"))
        .groupBy("value")
        .agg(F.max(F.sha2("value", 512)))
        .writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )


def said_by_rocksdb(spark: SparkSession) -> dict[str, list[int]]:
    """What the database of each state store says itself."""
    databases = [store.database() for store in stores(spark)]
    return {
        name: [database.getAggregatedLongProperty(named) for database in databases]
        for name, named in PROPERTIES.items()
    }


@pytest.mark.parametrize("bounded", [False, True])
def test_the_memory_of_rocksdb_is_what_rocksdb_says_with_a_shared_cache_counted_once(
    spark: SparkSession, recorder: MetricsRecorder, tmp_path: Path, bounded: bool
) -> None:
    spark.conf.set(f"{ROCKSDB}.boundedMemoryUsage", str(bounded).lower())
    query = started(spark, tmp_path)
    query.processAllAvailable()
    own = said_by_rocksdb(spark)
    assert len(own["rocksdb_memtables_bytes"]) == 2
    assert sum(own["rocksdb_memtables_bytes"]) > 10_000 * 128
    if bounded:
        # One cache, of which each of the two databases tells the whole.
        assert all(len(set(own[name])) == 1 for name in OF_A_CACHE)
    once = OF_A_CACHE if bounded else ()
    expected = {name: max(each) if name in once else sum(each) for name, each in own.items()}

    def seen() -> dict[str, int]:
        return {name: value for name, value in told(recorder).items() if name in PROPERTIES}

    # Stores of an earlier query stay loaded for a while: then there is more than this one has.
    until(lambda: seen() == expected, timeout_s=150)
    query.stop()

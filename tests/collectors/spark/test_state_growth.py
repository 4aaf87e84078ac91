"""State rows and native memory of a real query, in its frames."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors.formats.metrics import BY_NAME
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import Frame
from dashboard.testing.stack import RedisServer
from tests.collectors.frames import arrived_when
from tests.collectors.stateful_job import PROVIDERS

pytestmark = pytest.mark.spark

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOGS = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
MEMTABLES = BY_NAME["rocksdb_memtables_bytes"].id
CACHES = BY_NAME["rocksdb_cache_bytes"].id
RESIDENT = BY_NAME["process_resident_bytes"].id
ROWS = 20_000


@pytest.fixture
def rocksdb(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set(PROVIDER, f"{PROVIDERS}RocksDBStateStoreProvider")
    yield spark
    spark.conf.unset(PROVIDER)
    spark.conf.unset(CHANGELOGS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path


def add(folder: Path, number: int, rows: range) -> None:
    made = folder / f"{number}.txt"
    made.write_text("\n".join(map(str, rows)))
    made.rename(folder / "in" / made.name)


def started(counted: DataFrame, name: str, checkpoint: str) -> StreamingQuery:
    return (
        counted.writeStream.queryName(name)
        .outputMode("append" if name == "two" else "update")
        .format("noop")
        .option("checkpointLocation", checkpoint)
        .start()
    )


def newest_sizes(frames: list[Frame]) -> tuple[StateSize, ...]:
    return next((each.state_sizes for each in reversed(frames) if each.state_sizes), ())


def rows_in_state(frames: list[Frame]) -> int:
    return sum(each.rows or 0 for each in newest_sizes(frames))


def memtables(frames: list[Frame]) -> int:
    told = [sample.metrics.get(MEMTABLES) for frame in frames for sample in frame.executors]
    return next((each for each in reversed(told) if each is not None), 0)


def test_a_query_whose_state_grows_shows_its_rows_and_the_memory_of_rocksdb_grow(
    rocksdb: SparkSession,
    module_redis: RedisServer,
    folder: Path,
    checkpoint: Callable[[str], str],
) -> None:
    rocksdb.conf.set(CHANGELOGS, "true")
    add(folder, 0, range(100))
    keys = rocksdb.readStream.text(str(folder / "in")).groupBy("value")
    query = started(keys.agg(F.max(F.sha2("value", 512))), "growing", checkpoint("growing"))
    job = "tests.growing"
    few = arrived_when(
        module_redis, job, lambda seen: rows_in_state(seen) == 100 and memtables(seen) > 0
    )
    add(folder, 1, range(ROWS))
    # Nothing is flushed with changelogs: each row is in a memtable, with a digest of 128 letters.
    least = memtables(few) + ROWS * 128 // 2
    many = arrived_when(
        module_redis, job, lambda seen: rows_in_state(seen) == ROWS and memtables(seen) > least
    )
    query.stop()
    [size] = newest_sizes(many)
    assert (size.operator, size.name) == (0, "stateStoreSave")
    assert size.state_bytes > newest_sizes(few)[0].state_bytes
    slow = [frame for frame in many if frame.state_sizes]
    assert len(slow) <= len(many) / 20 + 1
    # Memory is told in the same frames, and in no others.
    with_memory = [frame for frame in many if any(RESIDENT in s.metrics for s in frame.executors)]
    assert {frame.window % 20 for frame in (*slow, *with_memory)} == {0}
    told = {id_ for sample in with_memory[-1].executors for id_ in sample.metrics}
    assert {RESIDENT, MEMTABLES, CACHES} <= told


def test_each_operator_has_the_rows_that_its_own_state_has(
    rocksdb: SparkSession,
    module_redis: RedisServer,
    folder: Path,
    checkpoint: Callable[[str], str],
) -> None:
    # Not from 0 on, which is not later than the first watermark.
    add(folder, 0, range(60, 660))
    events = (
        rocksdb.readStream.text(str(folder / "in"))
        .withColumn("at", F.timestamp_seconds(F.col("value").cast("long")))
        .withWatermark("at", "1 hour")
        .dropDuplicates(["value", "at"])
        .groupBy(F.window("at", "1 minute"))
        .count()
    )
    query = started(events, "two", checkpoint("two"))
    frames = arrived_when(module_redis, "tests.two", lambda seen: rows_in_state(seen) == 610)
    query.stop()
    sizes = {each.operator: each for each in newest_sizes(frames)}
    assert {each.name for each in sizes.values()} == {"dedupe", "stateStoreSave"}
    # Spark's own reader of checkpoints says which operator has which number.
    for operator, size in sizes.items():
        state = rocksdb.read.format("statestore").option("operatorId", operator)
        assert state.load(checkpoint("two")).count() == size.rows, size
    assert sorted(each.rows or 0 for each in sizes.values()) == [10, 600]

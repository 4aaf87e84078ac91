"""Heavy keys on a real Spark: the sketch keeps its promise, and `watch_keys` finds the key, and the
partition that Spark keeps it in."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors import watch_keys
from collectors.formats.heavy_keys import KeyRows, WatchedKeys
from dashboard.testing.stack import RedisServer
from examples.session import stop_between_batches
from tests.collectors.conftest import probe, spark_session
from tests.collectors.frames import arrived
from tests.waiting import until

pytestmark = pytest.mark.spark

PARTITIONS = 5
ROWS = 4_000


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    options = {"spark.sql.shuffle.partitions": str(PARTITIONS)}
    with spark_session(module_redis.url, **options) as session:
        yield session


def counters(sketch: Any) -> dict[int, int]:
    top = sketch.top(1_000)
    return {(key := top.apply(at)).hash(): key.rows() for at in range(top.size())}


# A few keys that come often among many that do not.
streams = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 255)), max_size=400)


@settings(max_examples=40)
@given(keys=streams, more=streams, k=st.integers(1, 12))
def test_a_sketch_is_off_by_a_share_of_all_rows_at_most_and_no_key_seems_heavier_than_it_is(
    spark: SparkSession, keys: list[int], more: list[int], k: int
) -> None:
    made = probe(spark).KeySketch
    merged = made.ofBytes(bytearray(keys), k).add(made.ofBytes(bytearray(more), k))

    for sketch, seen in ((made.ofBytes(bytearray(keys), k), keys), (merged, keys + more)):
        found, true, most_off = counters(sketch), Counter(seen), len(seen) / (k + 1)
        assert sketch.total() == len(seen)
        assert len(found) <= k
        for key, count in true.items():
            assert count - most_off <= found.get(key, 0) <= count
        assert {key for key, count in true.items() if count > most_off} <= found.keys()


def events(spark: SparkSession) -> DataFrame:
    """Every second row is of user 7, the others are of a thousand."""
    user = F.when(F.col("value") % 2 == 0, 7).otherwise(F.col("value") % 1_000)
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS)
        .option("numPartitions", 2)
        .load()
        .select(user.alias("user id"), (F.col("value") % 3).alias("shop"))
    )


def started(frame: DataFrame, name: str, folder: str) -> StreamingQuery:
    return (
        frame.writeStream.queryName(name)
        .format("noop")
        .outputMode("update")
        .option("checkpointLocation", folder)
        .trigger(processingTime="200 milliseconds")
        .start()
    )


def heaviest(redis: RedisServer, name: str) -> tuple[WatchedKeys, ...]:
    """What the newest frame says, once a thousand rows were counted."""

    def look() -> tuple[WatchedKeys, ...]:
        told = [each.heavy_keys for each in arrived(redis, f"tests.{name}") if each.heavy_keys]
        return told[-1] if told and all(each.sampled >= 1_000 for each in told[-1]) else ()

    return until(look, timeout_s=60)


def partition_of(spark: SparkSession, folder: str, condition: str) -> int:
    """Where Spark has the key's state, as its own reader of checkpoints says."""
    state = spark.read.format("statestore").load(folder)
    (row,) = state.where(condition).select("partition_id").distinct().collect()
    return int(row.partition_id)


def test_the_heavy_key_of_a_skewed_group_by_is_found_in_the_partition_that_holds_it(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    folder = checkpoint("skewed")
    counts = events(spark).transform(watch_keys("user id")).groupBy("user id").count()
    query = started(counts, "skewed", folder)
    (watched,) = heaviest(module_redis, "skewed")
    stop_between_batches(query)

    assert watched.columns == "user id"
    key = watched.keys[0]
    assert key.key == "7"
    assert key.rows / watched.sampled == pytest.approx(0.5, abs=0.06)
    assert all(other.rows <= 0.05 * watched.sampled for other in watched.keys[1:])
    assert key.partition == partition_of(spark, folder, "key.`user id` = 7")


def test_keys_of_several_columns_go_where_a_group_by_of_the_same_columns_sends_them(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    folder = checkpoint("several")
    keyed = events(spark).withColumn("shop", F.when(F.col("shop") > 0, F.col("shop")))
    counts = keyed.transform(watch_keys("user id", "shop")).groupBy("user id", "shop").count()
    query = started(counts, "several", folder)
    (watched,) = heaviest(module_redis, "several")
    stop_between_batches(query)

    assert watched.columns == "user id, shop"
    found = {key.key: key.partition for key in watched.keys[:3]}
    assert found == {
        f"7, {shop}": partition_of(spark, folder, f"key.`user id` = 7 AND key.shop <=> {shop}")
        for shop in ("null", "1", "2")
    }


def test_the_checkpoint_says_how_many_partitions_there_are_whatever_the_session_says(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    folder = checkpoint("resumed")
    counts = events(spark).groupBy("user id").count()
    first = started(counts, "resumed", folder)
    until(lambda: first.lastProgress and first.lastProgress.batchId >= 1, timeout_s=60)
    stop_between_batches(first)
    spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS + 2)
    try:
        watched_counts = events(spark).transform(watch_keys("user id")).groupBy("user id").count()
        # An allowed change: the same checkpoint goes on with the keys watched.
        query = started(watched_counts, "resumed", folder)
        (watched,) = heaviest(module_redis, "resumed")
        stop_between_batches(query)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS)

    assert query.exception() is None
    key = watched.keys[0]
    assert (key.key, key.partition) == ("7", partition_of(spark, folder, "key.`user id` = 7"))


def test_long_keys_are_cut_before_they_leave_the_executor(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    long = events(spark).select(F.lit("ü" * 100).alias("key")).transform(watch_keys("key"))
    query = started(long.groupBy("key").count(), "long", checkpoint("long"))
    (watched,) = heaviest(module_redis, "long")
    stop_between_batches(query)

    assert watched.keys == (KeyRows("ü" * 64, watched.keys[0].partition, watched.sampled),)


@pytest.mark.parametrize("codegen", ["CODEGEN_ONLY", "NO_CODEGEN"])
def test_rows_and_columns_pass_unchanged(spark: SparkSession, codegen: str) -> None:
    frame = spark.sql(
        "SELECT 1 AS `a.b`, NULL AS `user ``id`, named_struct('x', 1) AS s"
        " UNION ALL SELECT id, CAST(id AS STRING), named_struct('x', id) FROM range(100)"
    )
    keys = ("user `id", "s", "a.b")
    spark.conf.set("spark.sql.codegen.factoryMode", codegen)
    spark.conf.set("spark.sql.codegen.wholeStage", str(codegen == "CODEGEN_ONLY").lower())
    try:
        watched = frame.transform(watch_keys(*keys))
        assert watched.schema == frame.schema
        assert sorted(map(str, watched.collect())) == sorted(map(str, frame.collect()))
    finally:
        spark.conf.unset("spark.sql.codegen.factoryMode")
        spark.conf.unset("spark.sql.codegen.wholeStage")


def test_a_watermark_goes_on_to_close_windows_behind_it(
    spark: SparkSession, checkpoint: Callable[[str], str]
) -> None:
    windows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 10)
        .option("advanceMillisPerBatch", 5_000)
        .load()
        .withWatermark("timestamp", "1 second")
        .withColumn("window", F.window("timestamp", "5 seconds"))
        .transform(watch_keys("window"))
        .groupBy("window")
        .count()
    )
    query = (
        windows.writeStream.format("memory")
        .queryName("closed")
        .option("checkpointLocation", checkpoint("closed"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    until(lambda: spark.table("closed").count() >= 2, timeout_s=60)
    stop_between_batches(query)
    assert {row["count"] for row in spark.table("closed").collect()} == {10}


def test_a_plan_without_the_probe_is_unchanged(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("collectors.spark.watch_keys.EXTENSIONS", "not.loaded.Extensions")
    frame = spark.range(3)
    assert frame.transform(watch_keys("id")) is frame
    assert "watch_keys(id) does nothing" in caplog.text


def test_where_executors_cannot_load_the_probe_the_plan_is_that_of_the_rows_themselves(
    spark: SparkSession,
) -> None:
    """Their tasks could not read an expression of ours, so none may be in a plan."""
    jar = probe(spark).ProbeJar
    frame = spark.range(3)
    jar.forget()
    try:
        plan: Any = frame.transform(watch_keys("id"))._jdf.queryExecution().optimizedPlan()
        assert plan.toString() == frame._jdf.queryExecution().optimizedPlan().toString()
    finally:
        context: Any = spark.sparkContext
        jar.send(context._jsc.sc(), context._jsc.sc().conf())
    watched: Any = frame.transform(watch_keys("id"))._jdf.queryExecution().optimizedPlan()
    assert "curtail_watch_keys" in watched.toString()


def test_it_says_what_is_wrong_with_a_column(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS id, map(1, 2) AS properties")
    with pytest.raises(ValueError, match="no such column; there are id, properties"):
        frame.transform(watch_keys("id", "user"))
    with pytest.raises(ValueError, match="Spark cannot hash map<int,int>"):
        frame.transform(watch_keys("properties"))
    with pytest.raises(ValueError, match="name the columns"):
        watch_keys()

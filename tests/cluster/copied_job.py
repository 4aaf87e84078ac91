"""Three queries that count the same rows by key; tests have tasks of two of them copied.

A program of its own, so that its executors can be killed. Every batch writes the rows it put out to
a file of its own. Once asked to end, it writes the state that each query's checkpoint holds.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors import instrument
from collectors.spark.build import compiled
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from tests.cluster.job import JAVA_OPTIONS
from tests.cluster.orders import write
from tests.waiting import until

NAME = "copied"
KEYS = 30
ROWS_PER_BATCH = 400
INTERVAL_MS = 1_000
# The stages of a batch, by their place in it, and how many tasks each has.
SOURCE, STATE, SINK = range(3)
STAGES = 3
TASKS = {SOURCE: 4, STATE: 3, SINK: 2}
DAWDLE_MS = 15
END, STATES = "end", "states.json"
STORES = "spark.sql.streaming.stateStore"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class Counting:
    """A query; a slow one takes a random time in each task that has state, and can hang."""

    name: str
    slow: bool = True
    options: Mapping[str, str] = field(default_factory=dict)


CHANGELOG = f"{STORES}.rocksdb.changelogCheckpointing.enabled"
FORMAT = f"{STORES}.checkpointFormatVersion"
REFERENCE = Counting("reference", slow=False, options={FORMAT: "1", CHANGELOG: "false"})
SNAPSHOTS = Counting("snapshots", options={FORMAT: "2", CHANGELOG: "false"})
CHANGELOGS = Counting("changelogs", options={FORMAT: "2", CHANGELOG: "true"})
QUERIES = (REFERENCE, SNAPSHOTS, CHANGELOGS)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--conf", type=json.loads, required=True)
    parser.add_argument("--redis", required=True)
    options = parser.parse_args()
    spark = session(options.conf, options.redis)
    sessions = {each.name: own_session(spark, each) for each in QUERIES}
    started = [start(sessions[each.name], each, options.out) for each in QUERIES]
    until(lambda: (options.out / END).exists() or failed(started), timeout_s=3_600, every_s=0.1)
    for query in started:
        query.stop()
        if failure := query.exception():
            raise failure
    last = min(last_batch(options.out, each.name) for each in QUERIES)
    held = {name: state(own, options.out, name, last) for name, own in sessions.items()}
    write(options.out / STATES, held)
    spark.stop()
    return 0


def session(conf: Mapping[str, str], redis: str) -> SparkSession:
    jar = str(compiled("curtail-test-delays", [Path(__file__).parent / "Delays.scala"]))
    builder = (
        SparkSession.Builder()
        .appName(NAME)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(TASKS[STATE]))
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        .config(f"{STORES}.providerClass", ROCKSDB)
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.executor.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.jars", jar)
        .config("spark.driver.extraClassPath", jar)
        .config("spark.curtail.techniques", "tests.techniques.copied,tests.techniques.placed")
        # Spark runs a task elsewhere if its executor is busy for 3 s, as it may be here. Where only
        # the host is preferred, as by a shuffle, any other does as well.
        .config("spark.locality.wait.process", "20s")
        .config("spark.locality.wait.node", "0s")
    )
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = instrument(builder, redis=redis, job=NAME).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def own_session(spark: SparkSession, counting: Counting) -> SparkSession:
    own = spark.newSession()
    for key, value in counting.options.items():
        own.conf.set(key, value)
    for name in ("Dawdle", "Hang"):
        own.udf.registerJavaFunction(name, f"io.curtail.tests.{name}", "long")
    return own


def start(spark: SparkSession, counting: Counting, out: Path) -> StreamingQuery:
    hang = f"Hang(value, '{hang_file(out, counting.name)}')"
    rows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", TASKS[SOURCE])
        .option("startTimestamp", 0)
        .option("advanceMillisPerBatch", INTERVAL_MS)
        .load()
        .select(F.expr(hang if counting.slow else "value").alias("value"))
    )
    counted = rows.groupBy((F.col("value") % KEYS).alias("key")).agg(
        F.count("*").alias("rows"), F.sum("value").alias("total")
    )
    if counting.slow:
        counted = counted.withColumn("total", F.expr(f"Dawdle(total, {DAWDLE_MS}L)"))

    def put_out(changed: DataFrame, batch_id: int) -> None:
        rows = sorted([row["key"], row["rows"], row["total"]] for row in changed.collect())
        write(batch_file(out, counting.name, batch_id), rows)

    return (
        counted.repartition(TASKS[SINK])
        .writeStream.queryName(counting.name)
        .outputMode("update")
        .foreachBatch(put_out)
        .option("checkpointLocation", checkpoint(out, counting.name))
        .trigger(processingTime=f"{INTERVAL_MS} milliseconds")
        .start()
    )


def state(spark: SparkSession, out: Path, name: str, batch_id: int) -> list[list[Any]]:
    """What the checkpoint holds after the batch, by Spark's own reader of state."""
    held = spark.read.format("statestore").option("batchId", batch_id).load(checkpoint(out, name))
    rows = held.select("partition_id", F.to_json("key"), F.to_json("value")).collect()
    return sorted(list(row) for row in rows)


def hang_file(out: Path, name: str) -> Path:
    return out / f"{name}-hangs-on"


def batch_file(out: Path, name: str, batch_id: int) -> Path:
    return out / f"{name}-{batch_id:05}.json"


def checkpoint(out: Path, name: str) -> str:
    return str(out / f"checkpoint-{name}")


def last_batch(out: Path, name: str) -> int:
    return int(max(out.glob(f"{name}-*.json")).stem.rsplit("-", 1)[1])


def failed(queries: list[StreamingQuery]) -> bool:
    return not all(query.isActive for query in queries)


if __name__ == "__main__":
    raise SystemExit(main())

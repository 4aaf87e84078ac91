"""The job that the faults happen to: counts by key over batches of known content.

A program of its own, so that it can be watched and ended. Every batch writes the rows it put out to
a file of its own. On SIGUSR1 the job corrupts plugin messages, on SIGUSR2 it floods the collector's
queue, on SIGTERM it ends.
"""

import argparse
import json
import signal
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors import instrument, stamp
from collectors.build import probe_jar
from collectors.conf import CHECKPOINT_FILE_MANAGER
from collectors.link import Kind

NAME = "faults"
QUERY = "counts"
KEYS = 30
ROWS_PER_BATCH = 3_000
INTERVAL_MS = 500
# The driver keeps 4 096 messages for a collector that does not read, its pipe some 2 000 more.
FLOOD = 8_000
GARBAGE = b"\xff" * 64
# JVMs of a minute or two: the better compiler would take more time than it saves.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main() -> int:
    options = arguments().parse_args()
    asked = {
        number: threading.Event() for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
    }
    for number, event in asked.items():
        signal.signal(number, lambda *_, event=event: event.set())
    spark = session(options)
    query = start(spark, options)
    while query.isActive and not finished(query, options, asked[signal.SIGTERM]):
        if asked[signal.SIGUSR1].is_set():
            asked[signal.SIGUSR1].clear()
            corrupt(spark)
        if asked[signal.SIGUSR2].is_set():
            asked[signal.SIGUSR2].clear()
            flood(spark)
            write(options.out / "flooded.json", FLOOD)
    failure = query.exception()
    query.stop()
    spark.stop()
    if failure:
        raise failure
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--conf", type=json.loads, required=True)
    parser.add_argument("--start-ms", type=int, required=True, help="event time of batch 0")
    parser.add_argument("--redis", help="instrumented if given")
    parser.add_argument("--batches", type=int, help="as fast as it can, then ends")
    return parser


def session(options: argparse.Namespace) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .appName(NAME)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.executor.extraJavaOptions", JAVA_OPTIONS)
    )
    for key, value in options.conf.items():
        builder = builder.config(key, value)
    if options.redis:
        builder = instrument(builder, redis=options.redis, job=NAME)
    else:
        # Nothing of it runs but the checkpoint files, which are the same on both sides.
        jar = str(probe_jar())
        builder = builder.config("spark.jars", jar).config("spark.driver.extraClassPath", jar)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def start(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    counted = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", 3)
        .option("startTimestamp", options.start_ms)
        .option("advanceMillisPerBatch", INTERVAL_MS)
        .load()
        .groupBy((F.col("value") % KEYS).alias("key"))
        .agg(
            F.count("*").alias("rows"),
            F.sum("value").alias("total"),
            F.max("timestamp").alias("event_time"),
        )
    )
    interval_ms = 0 if options.batches else INTERVAL_MS

    def put_out(changed: DataFrame, batch_id: int) -> None:
        rows = [[r.key, r.rows, r.total, r.event_time.timestamp()] for r in changed.collect()]
        write(options.out / f"batch-{batch_id:05}.json", sorted(rows))

    return (
        counted.transform(stamp("event_time"))
        .writeStream.queryName(QUERY)
        .outputMode("update")
        .foreachBatch(put_out)
        .option("checkpointLocation", str(options.out / "checkpoint"))
        .trigger(processingTime=f"{interval_ms} milliseconds")
        .start()
    )


def finished(query: StreamingQuery, options: argparse.Namespace, ended: threading.Event) -> bool:
    if ended.wait(0.1):
        return True
    last: Any = query._jsq.lastProgress()
    return bool(options.batches and last and last.batchId() >= options.batches - 1)


def corrupt(spark: SparkSession) -> None:
    """What an executor might send to the plugin on the driver, and what only a bug would."""
    jvm: Any = spark.sparkContext._jvm
    plugin = jvm.io.curtail.probe.Plugin().driverPlugin()
    for message in (bytearray(GARBAGE), bytearray(), "not even bytes", 7, None):
        plugin.receive(message)
    for unknown_kind in (98, 99):
        jvm.io.curtail.probe.Collector.offer(unknown_kind, bytearray(GARBAGE))


def flood(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    for _ in range(FLOOD):
        jvm.io.curtail.probe.Collector.offer(Kind.PART.value, bytearray(GARBAGE))


def write(path: Path, value: object) -> None:
    """Whole or not at all: somebody may be reading."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.replace(path)


if __name__ == "__main__":
    raise SystemExit(main())

"""The job that the faults happen to: counts by key over batches of known content.

A program of its own, so that it can be watched and ended. Every batch writes the rows it put out to
a file of its own. On SIGTERM it ends; what else can be asked of it is in `orders.py`.
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
from collectors.spark.build import probe_jar
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from tests.cluster import orders

NAME = "faults"
QUERY = "counts"
KEYS = 30
ROWS_PER_BATCH = 3_000
INTERVAL_MS = 1_000
# JVMs of a minute or two: the better compiler would take more time than it saves.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main() -> int:
    options = arguments().parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    spark = session(options)
    query = start(spark, options)
    while query.isActive and not finished(query, options, ended):
        orders.obey(spark, options.out)
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
    # Without Curtail nothing of the probe runs but the checkpoint files, the same on both sides.
    jar = str(orders.neighbour_jar() if options.redis else probe_jar())
    builder = builder.config("spark.jars", jar).config("spark.driver.extraClassPath", jar)
    if options.redis:
        builder = builder.config("spark.plugins", orders.NEIGHBOUR)
        builder = instrument(builder, redis=options.redis, job=NAME)
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
        orders.write(options.out / f"batch-{batch_id:05}.json", sorted(rows))

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


if __name__ == "__main__":
    raise SystemExit(main())

"""Events counted and scored by key, for a Spark standalone cluster of small executors.

events ──▶ count by key (state) ──▶ score of each key that changed ──▶ sink
events ──▶ score ──▶ shuffle by key ──▶ sink                           with --stateless

A score is a fixed number of arithmetic steps, so what makes tasks of one executor longer than those
of another is the executor. The steps are where the query's time goes: after the aggregation, in the
tasks that hold the state; with `--stateless`, before the shuffle, in tasks that any executor may
run. On a cluster every executor has one core and 512 MB.

`./curtail demo --cluster` runs it on three hosts, one of them slow (`examples/noisy_neighbour.py`).
"""

import argparse
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from examples import session as example

NAME = "cluster-counts"
QUERY = "scores"
HOSTS = 3
# Spark refuses executors of less than 450 MB.
EXECUTOR_MB = 512
# Small JVMs on few cores: the optimising compiler would take more time than it saves.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main(argv: Sequence[str] | None = None) -> int:
    options = arguments().parse_args(argv)
    spark = example.session(NAME, options, conf(options))
    query = example.started(scores(spark, options), NAME, QUERY, options, mode=mode(options))
    return example.run(spark, query, options)


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Events counted and scored by key, on a cluster of small executors.")
    parser.set_defaults(partitions=12)
    parser.add_argument("--hosts", type=example.positive, default=HOSTS, help="executors to take")
    parser.add_argument("--rate", type=example.positive, default=1200, help="events per second")
    parser.add_argument("--keys", type=example.positive, default=1200, help="distinct keys")
    parser.add_argument(
        "--steps", type=example.positive, default=2000, help="arithmetic steps of a score"
    )
    parser.add_argument(
        "--stateless", action="store_true", help="scores events instead of counting them by key"
    )
    parser.add_argument(
        "--speculation", action="store_true", help="with Spark's own speculation switched on"
    )
    parser.add_argument("--show", action="store_true", help="print each batch")
    return parser


def conf(options: argparse.Namespace) -> dict[str, str]:
    return {
        "spark.executor.cores": "1",
        "spark.executor.memory": f"{EXECUTOR_MB}m",
        "spark.cores.max": str(options.hosts),
        # Wait for all executors, or the first batches would run on one host alone.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.executor.extraJavaOptions": JAVA_OPTIONS,
        "spark.speculation": str(options.speculation).lower(),
    }


def mode(options: argparse.Namespace) -> str:
    return "append" if options.stateless else "update"


def scores(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    happened = events(spark, options)
    if options.stateless:
        return scored(happened, options.steps).repartition(options.partitions, "key")
    return scored(counts(happened), options.steps)


def events(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """A second's events have every key equally often, in as many partitions as there are hosts."""
    ticks = (
        spark.readStream.format("rate")
        .option("rowsPerSecond", options.rate)
        .option("numPartitions", options.hosts)
        .load()
    )
    return ticks.select(
        F.col("timestamp").alias("event_time"), (F.col("value") % options.keys).alias("key")
    )


def counts(happened: DataFrame) -> DataFrame:
    return happened.groupBy("key").agg(
        F.count("*").alias("events"), F.max("event_time").alias("event_time")
    )


def scored(rows: DataFrame, steps: int) -> DataFrame:
    """Adds a score that takes so many steps to compute, one after the other."""
    folded = F.aggregate(
        F.sequence(F.lit(1), F.lit(steps)),
        F.xxhash64("key"),
        lambda score, step: F.xxhash64(score, step),
    )
    return rows.withColumn("score", folded)


if __name__ == "__main__":
    raise SystemExit(main())

"""Traffic jam ranking, the workload of the ShadowSync paper, as one PySpark streaming query.

    cars ──▶ s0 by car ──▶ s1 by street ──▶ s2 ranking
             last report    cars and speed   the ten worst streets

s0 keeps each car's last report, s1 each street's degree of jam, both in RocksDB; s2 is one ranking,
kept by the driver. Spark flushes both at every commit, once a second here, and each state store
compacts every fourth flush. The files that a compaction writes are uploaded by the next commit,
which is quick on this machine's disk and slow on a cloud's (`--disk-mb-s 125`).
"""

import argparse
import heapq
import math
import random
from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors import stamp
from examples import session as example

NAME = "traffic-jam"
WORST = 10
REGISTERING_S = 10
NOISE_BYTES = 1 << 16


class Setting(NamedTuple):
    """One of the paper's experiments, for two cores: how much state each stage has."""

    cars: int
    streets: int
    message_bytes: int


SETTINGS = {
    "statistical": Setting(cars=6_000, streets=4_500, message_bytes=16_384),
    "scheduled": Setting(cars=10_000, streets=200, message_bytes=16_384),
    "calm": Setting(cars=8_000, streets=6_000, message_bytes=64),
}


def main() -> int:
    options = arguments().parse_args()
    spark = example.session(NAME, options)
    return example.run(spark, start(spark, options), options)


def start(
    spark: SparkSession, options: argparse.Namespace, name: str = "ranking"
) -> StreamingQuery:
    # Two aggregations in update mode: Spark warns that a retraction is not passed on. Here every
    # update of a car is a message to its street, which is what the paper's job does.
    spark.conf.set("spark.sql.streaming.statefulOperator.checkCorrectness.enabled", "false")
    ranking = Ranking(print if options.show else lambda _: None)
    return (
        streets(cars(reports(spark, options)))
        .transform(stamp("event_time"))
        .writeStream.queryName(name)
        .outputMode("update")
        .foreachBatch(ranking.update)
        .option("checkpointLocation", example.checkpoint(NAME, options))
        .trigger(processingTime=example.interval(options))
        .start()
    )


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Traffic jam ranking (the ShadowSync paper's workload).")
    parser.add_argument(
        "--setting",
        choices=SETTINGS,
        default="statistical",
        help="scheduled: all state stores of the cars compact together; statistical: and those of "
        "the streets with them; calm: so little state that nobody notices",
    )
    parser.add_argument("--messages", type=example.positive, default=400, help="a second")
    parser.add_argument("--show", action="store_true", help="print the ranking after each batch")
    return parser


def reports(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The reports of cars: place, speed and sensor data that does not compress."""
    ticks = spark.readStream.format("rate").option("rowsPerSecond", options.messages).load()
    setting = SETTINGS[options.setting]
    second = F.floor(F.col("value") / options.messages)
    # In the first seconds every car reports once, so that the state has its full size.
    at_once = math.ceil(setting.cars / (options.messages * REGISTERING_S))
    times = F.when(second < REGISTERING_S, at_once).otherwise(1)
    several = ticks.select("*", F.explode(F.sequence(F.lit(1), times)).alias("nth"))
    number = F.col("value") * at_once + F.col("nth")
    messages = several.select("timestamp", second.alias("second"), number.alias("number"))
    registering = F.col("second") < REGISTERING_S
    place = F.when(registering, F.col("number")).otherwise(F.xxhash64("number"))
    car = F.pmod(place, F.lit(setting.cars))
    # A car stays on a street for about half a minute, then turns into another.
    street = F.pmod(F.xxhash64(car, F.floor((F.col("second") + car) / 30)), F.lit(setting.streets))
    return messages.select(
        car.alias("car"),
        street.alias("street"),
        F.col("timestamp").alias("event_time"),
        (20 + F.pmod(F.xxhash64("number"), F.lit(60))).cast("double").alias("speed_kmh"),
        noise(setting.message_bytes).alias("sensors"),
    )


def cars(messages: DataFrame) -> DataFrame:
    """s0: the last report of every car."""
    latest = F.max_by(F.struct("street", "speed_kmh", "sensors"), "event_time").alias("latest")
    return (
        messages.groupBy("car")
        .agg(latest, F.max("event_time").alias("event_time"), F.count("*").alias("messages"))
        .select("car", "latest.*", "event_time", "messages")
    )


def streets(updates: DataFrame) -> DataFrame:
    """s1: how jammed every street is, from the reports of the cars on it."""
    return updates.groupBy("street").agg(
        F.count("*").alias("reports"),
        F.approx_count_distinct("car").alias("cars"),
        F.avg("speed_kmh").alias("speed_kmh"),
        F.max_by("sensors", "event_time").alias("sensors"),
        F.max("event_time").alias("event_time"),
    )


def noise(size: int) -> Column:
    """Bytes that do not compress, as cheap as a copy: another piece of one noise for each row."""
    all_of_it = random.Random(size).randbytes(size + NOISE_BYTES)
    start = 1 + F.pmod(F.xxhash64("number"), F.lit(NOISE_BYTES))
    return F.substring(F.lit(all_of_it), start.cast("int"), F.lit(size))


class Ranking:
    """s2: the latest state of every street, and the ten worst."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._jam: dict[int, float] = {}
        self._show = show

    def update(self, changed: DataFrame, batch_id: int) -> None:
        for row in changed.select("street", "cars", "speed_kmh", "event_time").collect():
            self._jam[row.street] = row.cars / row.speed_kmh
        worst = ", ".join(f"{street} ({jam:.2f})" for street, jam in self.worst())
        self._show(f"batch {batch_id}: worst streets {worst}")

    def worst(self) -> list[tuple[int, float]]:
        return heapq.nlargest(WORST, self._jam.items(), key=lambda item: item[1])


if __name__ == "__main__":
    raise SystemExit(main())

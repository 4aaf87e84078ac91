"""Traffic jam ranking, the workload of the ShadowSync paper, as one PySpark streaming query.

    cars ──▶ s0 by car ──▶ s1 by street ──▶ s2 ranking
             last report    cars and speed   the ten worst streets

Every car sends a message a second. s0 keeps each car's last report, s1 each street's degree of
jam, both in RocksDB; s2 is one ranking, kept by the driver.
"""

import argparse
import heapq
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from collectors import stamp
from examples import session as example

NAME = "traffic-jam"
WORST = 10


def main() -> int:
    options = arguments().parse_args()
    spark = example.session(NAME, options)
    # Two aggregations in update mode: Spark warns that a retraction is not passed on. Here every
    # update of a car is a message to its street, which is what the paper's job does.
    spark.conf.set("spark.sql.streaming.statefulOperator.checkCorrectness.enabled", "false")
    ranking = Ranking(print if options.show else lambda _: None)
    query = (
        streets(cars(reports(spark, options)))
        .transform(stamp("event_time"))
        .writeStream.queryName("ranking")
        .outputMode("update")
        .foreachBatch(ranking.update)
        .option("checkpointLocation", example.checkpoint(NAME, options))
        .trigger(processingTime=f"{options.interval_ms} milliseconds")
        .start()
    )
    return example.run(spark, query, options)


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Traffic jam ranking (the ShadowSync paper's workload).")
    parser.add_argument(
        "--cars", type=example.positive, default=2000, help="a message a second each"
    )
    parser.add_argument("--streets", type=example.positive, default=200)
    parser.add_argument(
        "--message-bytes", type=example.positive, default=512, help="sensor data per message"
    )
    parser.add_argument("--show", action="store_true", help="print the ranking after each batch")
    return parser


def reports(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """A message per car and second: place, speed and sensor data that hardly compresses."""
    ticks = spark.readStream.format("rate").option("rowsPerSecond", options.cars).load()
    car = F.col("value") % options.cars
    second = F.floor(F.col("value") / options.cars)
    # A car stays on a street for about half a minute, then turns into another.
    street = F.pmod(F.xxhash64(car, F.floor((second + car) / 30)), F.lit(options.streets))
    return ticks.select(
        car.alias("car"),
        street.alias("street"),
        F.col("timestamp").alias("event_time"),
        (20 + F.pmod(F.xxhash64("value"), F.lit(60))).cast("double").alias("speed_kmh"),
        F.randstr(F.lit(options.message_bytes), F.lit(1)).alias("sensors"),
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


class Ranking:
    """s2: every street's last word, and the worst of them."""

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

"""What the job of `job.py` does on request, while it runs: most of it to itself.

A request is a file in the job's folder, and so is the answer.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors import stamp
from collectors.spark.build import compiled
from tests.waiting import until

# The driver keeps 4 096 messages for a collector that does not read, its pipe some 2 000 more.
FLOOD = 8_000
GARBAGE = b"\xff" * 64
ROWS_QUERY = "rows"
ROWS_PER_FILE = 2_000
FILES = 2

NEIGHBOUR = "org.apache.spark.internal.plugin.Neighbour"
_ON_EXECUTOR = "org.apache.spark.internal.plugin.OnExecutor"


def neighbour_jar() -> Path:
    """Somebody else's plugin, which shares a thread of the driver with ours."""
    return compiled("curtail-test-neighbour", [Path(__file__).parent / "Neighbour.scala"])


def ask(folder: Path, order: str, number: int, timeout_s: float) -> Any:
    """For whoever watches the job: has the order carried out and returns the answer."""
    answer = folder / f"{order}.answer"
    write(folder / f"{order}.order", number)
    until(answer.exists, timeout_s)
    said = json.loads(answer.read_text())
    answer.unlink()
    return said


def obey(spark: SparkSession, folder: Path) -> None:
    """Carries out what has been asked for since the last time."""
    for path in folder.glob("*.order"):
        number = json.loads(path.read_text())
        path.unlink()
        write(path.with_suffix(".answer"), ORDERS[path.stem](spark, folder, number))


def hold(spark: SparkSession, folder: Path, hold_ms: int) -> int:
    """For so long the driver answers nobody's plugin."""
    return len(on_executors(spark, "hold", hold_ms, tasks=1))


def corrupt(spark: SparkSession, folder: Path, tasks: int) -> int:
    """Each task sends what is no part to our plugin; returns how many it answered."""
    return sum(int(answered) for answered in on_executors(spark, "corrupt", 0, tasks))


def garble(spark: SparkSession, folder: Path, times: int) -> int:
    """Messages of no kind on the collector's pipe."""
    jvm: Any = spark.sparkContext._jvm
    for _ in range(times):
        jvm.io.curtail.probe.CollectorProcess.offer(99, bytearray(GARBAGE))
    return times


def flood(spark: SparkSession, folder: Path, times: int) -> int:
    """More than fits into the driver's queue."""
    on_driver(spark, "flood", times)
    return times


def threads(spark: SparkSession, folder: Path, tasks: int) -> list[str]:
    """Names of the threads that wait in our code now, on executors and on the driver."""
    said = [on_driver(spark, "threads"), *on_executors(spark, "threads", 0, tasks)]
    return [name for names in said for name in names.split(",") if name]


def rows(spark: SparkSession, folder: Path, files: int) -> dict[str, int]:
    """A second query, of so many batches, into files; what the sink holds in the end."""
    inputs, out = folder / "in", folder / "rows"
    inputs.mkdir()
    for number in range(files):
        numbers = range(number * ROWS_PER_FILE, (number + 1) * ROWS_PER_FILE)
        (inputs / f"{number}.txt").write_text("\n".join(map(str, numbers)))
    query = (
        spark.readStream.option("maxFilesPerTrigger", 1)
        .text(str(inputs))
        .where("CAST(value AS BIGINT) % 3 != 0")
        .withColumn("event_time", F.current_timestamp())
        .transform(stamp("event_time"))
        .writeStream.queryName(ROWS_QUERY)
        .format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", str(folder / "rows-checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    held = spark.read.parquet(str(out)).agg(F.count("*"), F.countDistinct("value")).first()
    assert held is not None
    return {"rows": held[0], "distinct": held[1]}


def on_driver(spark: SparkSession, what: str, number: int = 0) -> str:
    jvm: Any = spark.sparkContext._jvm
    return str(jvm.org.apache.spark.internal.plugin.OnExecutor().call(what, number, 0))


def on_executors(spark: SparkSession, what: str, number: int, tasks: int) -> list[str]:
    spark.udf.registerJavaFunction("on_executor", _ON_EXECUTOR, "string")
    asked = spark.range(0, tasks, 1, tasks).selectExpr(f"on_executor('{what}', {number}L, id) said")
    return [row.said for row in asked.collect()]


def write(path: Path, value: object) -> None:
    """Whole or not at all: somebody may be reading."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.replace(path)


ORDERS: Mapping[str, Callable[[SparkSession, Path, int], object]] = {
    order.__name__: order for order in (hold, corrupt, garble, flood, threads, rows)
}

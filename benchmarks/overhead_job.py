"""One arm of the overhead benchmark, in a JVM of its own; its last line of output is JSON.

It runs the traffic jam job at full speed until a file `stop` appears in its folder: bare,
instrumented, instrumented without the tap on state stores, or with Spark's event log. With
`--rounds`, a stateless stream follows in the same session, every row through one way of measuring
latency after another: none, `stamp`, `observe`, `mapInArrow`.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks import cpu
from collectors import instrument, stamp
from collectors.spark.build import probe_jar
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from dashboard.cli import sessions
from examples.session import ROCKSDB
from examples.traffic_jam import cars, streets

QUERY = "jam"
ARMS = ("bare", "instrumented", "no_tap", "event_log")
INSTRUMENTED = ("instrumented", "no_tap")
WAYS = ("none", "stamp", "observe", "map_in_arrow")

PARTITIONS = 2
CARS, STREETS = 2_000, 200
LATENCY_SPREAD_US = 2_000_000
POLL_S = 0.01
IDLE_S = 0.2
# Files in a job's folder: its facts for the benchmark, and the signal that it is to end.
STARTED, STOP, CHECKPOINT = "started.json", "stop", "checkpoint"
# "launch worker for task 1.0 in stage 2.0", "idle worker": a thread's name changes with its work.
TASK_THREAD = "Executor task "


@dataclass(frozen=True)
class Reading:
    """Batches done and CPU used by this run's processes up to one moment."""

    batch: int
    clock_s: float
    cpu_s: float
    task_cpu_s: float


def main() -> int:
    options = arguments().parse_args()
    spark = session(options)
    result = {"jam": jam(spark, options), "rows": rows(spark, options)}
    spark.stop()
    print(json.dumps(result), flush=True)
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm", choices=ARMS, required=True)
    parser.add_argument("--job", required=True, help="the name of the application")
    parser.add_argument("--redis", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="for checkpoints and event logs")
    parser.add_argument("--jam-rows", type=int, required=True, help="in every batch of the job")
    parser.add_argument("--quick", action="store_true", help="JVM warm in seconds, if not as fast")
    parser.add_argument("--rows", type=int, default=0, help="in every batch of the stream")
    parser.add_argument("--batches", type=int, default=1, help="of the stream, measured")
    parser.add_argument("--warm-up", type=int, default=1, help="batches thrown away before")
    parser.add_argument("--rounds", type=int, default=0, help="of all ways")
    parser.add_argument("--thrown-away", type=int, default=0, help="rounds before those")
    return parser


def session(options: argparse.Namespace) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .appName(options.job)
        .master("local[2]")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        .config("spark.sql.streaming.numRecentProgressUpdates", 10_000)
        .config("spark.sql.streaming.statefulOperator.checkCorrectness.enabled", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(options.folder))
    )
    java = (
        "-XX:-UseDynamicNumberOfCompilerThreads",
        *(["-XX:TieredStopAtLevel=1"] * options.quick),
    )
    builder = builder.config("spark.driver.extraJavaOptions", " ".join(java))
    if options.arm in INSTRUMENTED:
        builder = instrument(builder, redis=options.redis, job=options.job)
        tap = "false" if options.arm == "no_tap" else "true"
        builder = builder.config("spark.curtail.stateStore.tap", tap)
    else:
        # Nothing of it runs but the checkpoint files, which are the same in every arm.
        builder = builder.config("spark.driver.extraClassPath", str(probe_jar()))
    if options.arm == "event_log":
        builder = builder.config("spark.eventLog.enabled", "true").config(
            "spark.eventLog.dir", options.folder.resolve().as_uri()
        )
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def jam(spark: SparkSession, options: argparse.Namespace) -> dict[str, object]:
    seen = options.arm in INSTRUMENTED
    ranked = streets(cars(messages(ticks(spark, options.jam_rows))))
    if seen:
        ranked = ranked.transform(stamp("event_time"))
    query = start(ranked, options.folder / CHECKPOINT, QUERY)
    collector = collector_pid(spark) if seen else None
    tell(options.folder / STARTED, {"collector": collector})
    while not (options.folder / STOP).exists():
        time.sleep(IDLE_S)
    if not query.isActive:
        raise RuntimeError(f"the query ended: {query.exception()}")
    query.stop()
    return {
        "batch_ms": batch_ms(query),
        "collector_mb": cpu.resident_mb(collector) if collector else None,
        "jvm_mb": live_mb(spark),
    }


def tell(path: Path, facts: dict[str, object]) -> None:
    """Writes the file atomically: the benchmark waits for it."""
    path.with_suffix(".new").write_text(json.dumps(facts))
    path.with_suffix(".new").rename(path)


def rows(spark: SparkSession, options: argparse.Namespace) -> list[list[dict[str, object]]]:
    """Rounds of one block per way.

    The ways differ in their plans alone, so they can share a warm JVM and run in close succession;
    every other round goes backwards, so that a drift falls on all of them alike.
    """
    rounds = []
    for number in range(options.thrown_away + options.rounds):
        order = WAYS if number % 2 else WAYS[::-1]
        rounds.append([block(spark, options, way, number) for way in order])
    return rounds[options.thrown_away :]


def block(
    spark: SparkSession, options: argparse.Namespace, way: str, number: int
) -> dict[str, object]:
    measuring = MEASURING[way](latencies(ticks(spark, options.rows)))
    query = start(measuring, options.folder / f"{way}-{number}", f"{way}-{number}")
    began, ended = measured(query, options.warm_up, options.batches)
    query.stop()
    return {
        "way": way,
        "rows": (ended.batch - began.batch) * options.rows,
        "began": asdict(began),
        "ended": asdict(ended),
    }


def ticks(spark: SparkSession, rows_per_batch: int) -> DataFrame:
    """A source with batches of one size, the next as soon as the last is done."""
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows_per_batch)
        .option("numPartitions", 2)
        .option("startTimestamp", int(time.time() * 1000))
        .option("advanceMillisPerBatch", 1_000)
        .load()
    )


def messages(source: DataFrame) -> DataFrame:
    """As the example's own `reports`, from a source that can go at full speed."""
    car = F.col("value") % CARS
    round_ = F.floor(F.col("value") / CARS)
    street = F.pmod(F.xxhash64(car, F.floor((round_ + car) / 30)), F.lit(STREETS))
    return source.select(
        car.alias("car"),
        street.alias("street"),
        F.col("timestamp").alias("event_time"),
        (20 + F.pmod(F.xxhash64("value"), F.lit(60))).cast("double").alias("speed_kmh"),
        sensors().alias("sensors"),
    )


def sensors() -> Column:
    """Bytes that hardly compress. Not `randstr` as in the example: Spark gives that a new seed in
    every batch, so its code is compiled anew in every batch, and no JVM is ever warm."""
    digests = [F.sha2(F.concat(F.col("value").cast("string"), F.lit(i)), 512) for i in range(4)]
    return F.concat(*digests)


def latencies(source: DataFrame) -> DataFrame:
    """Rows whose latencies spread over two seconds: with always the same buckets, these would stay
    in the CPU's cache."""
    now_us = F.unix_micros(F.current_timestamp())
    ago_us = F.pmod(F.xxhash64("value"), F.lit(LATENCY_SPREAD_US))
    return source.select("value", F.timestamp_micros(now_us - ago_us).alias("event_time"))


def observed(frame: DataFrame) -> DataFrame:
    latency_us = F.unix_micros(F.current_timestamp()) - F.unix_micros("event_time")
    return frame.observe("latency", F.percentile_approx(latency_us, [0.5, 0.99, 0.999]))


def passed_through(frame: DataFrame) -> DataFrame:
    def same(batches: Iterable[Any]) -> Iterator[Any]:
        yield from batches

    return frame.mapInArrow(same, frame.schema)


MEASURING: dict[str, Callable[[DataFrame], DataFrame]] = {
    "none": lambda frame: frame,
    "stamp": stamp("event_time"),
    "observe": observed,
    "map_in_arrow": passed_through,
}


def start(frame: DataFrame, checkpoint: Path, name: str) -> StreamingQuery:
    return (
        frame.writeStream.queryName(name)
        .outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )


def measured(query: StreamingQuery, warm_up: int, batches: int) -> tuple[Reading, Reading]:
    """Readings after the warm-up and after so many batches more (or one more than that)."""
    began = read_at(query, warm_up - 1)
    return began, read_at(query, began.batch + batches)


def read_at(query: StreamingQuery, batch: int) -> Reading:
    # Not `query.lastProgress`, which parses the event in Python for longer than a batch takes.
    while True:
        last: Any = query._jsq.lastProgress()
        if last is not None and last.batchId() >= batch:
            break
        if not query.isActive:
            raise RuntimeError(f"the query ended: {query.exception()}")
        time.sleep(POLL_S)
    family = sessions.members(os.getsid(0))
    return Reading(
        batch=last.batchId(),
        clock_s=time.monotonic(),
        cpu_s=sum(map(cpu.process_s, family)),
        task_cpu_s=sum(map(task_cpu_s, family)),
    )


def batch_ms(query: StreamingQuery) -> dict[int, int]:
    """How long each batch took, as Spark says."""
    recent: Any = query._jsq.recentProgress()
    return {
        event.batchId(): json.loads(event.json())["durationMs"]["triggerExecution"]
        for event in recent
    }


def task_cpu_s(pid: int) -> float:
    return sum(s for _, name, s in cpu.threads(pid) if name.startswith(TASK_THREAD))


def collector_pid(spark: SparkSession) -> int:
    jvm: Any = spark.sparkContext._jvm
    pid = int(jvm.io.curtail.probe.CollectorProcess.pid())
    if pid < 0:
        raise RuntimeError("the collector does not run")
    return pid


def live_mb(spark: SparkSession) -> float:
    """What is reachable in the JVM after a full collection, and what lies outside the heap."""
    jvm: Any = spark.sparkContext._jvm
    memory = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    for _ in range(3):
        memory.gc()
    used = memory.getHeapMemoryUsage().getUsed() + memory.getNonHeapMemoryUsage().getUsed()
    return float(used / 2**20)


if __name__ == "__main__":
    raise SystemExit(main())

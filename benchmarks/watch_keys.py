"""What `watch_keys` costs a row: ten million rows on one core, with and without it, in turns.

The plan does nothing else: it makes a key per row and throws the rows away. Half of them have one
key, the rest a hundred thousand. The time is the CPU time of Spark's task thread, so what others do
on the machine counts less; arms take turns in counterbalanced order in one JVM.
"""

import os
import time
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import ratios
from benchmarks.overhead_job import task_cpu_s
from collectors import instrument, watch_keys

SUMMARY = "what watch_keys costs a row"

ROWS, QUICK_ROWS = 10_000_000, 1_000_000
ROUNDS, QUICK_ROUNDS, WARM_UP_ROUNDS = 12, 3, 3
KEYS = 100_000
# Of a streaming query: in a batch query `watch_keys` counts nothing.
QUERY_ID = "sql.streaming.queryId"


def run(quick: bool) -> Mapping[str, object]:
    rows, rounds = (QUICK_ROWS, QUICK_ROUNDS) if quick else (ROWS, ROUNDS)
    spark = session()
    spark.sparkContext.setLocalProperty(QUERY_ID, "benchmark")
    pid = int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    bare = keyed(spark, rows)
    arms = {"bare": bare, "watched": bare.transform(watch_keys("user"))}
    pairs: list[tuple[float, float]] = []
    for number in range(WARM_UP_ROUNDS + rounds):
        order = sorted(arms, reverse=number % 2 == 1)
        took_ns = {name: task_ns(arms[name], pid) / rows for name in order}
        if number >= WARM_UP_ROUNDS:
            pairs.append((took_ns["watched"], took_ns["bare"]))
            print(f"round {len(pairs)}: {took_ns}", flush=True)
    spark.stop()
    return result(pairs, rows)


def result(pairs: Sequence[tuple[float, float]], rows: int) -> Mapping[str, object]:
    added = ratios.mean_of([watched - bare for watched, bare in pairs])
    mean, low, high = added.rounded(1)
    return {
        "rows": rows,
        "rounds": len(pairs),
        "ns_per_row": mean,
        "ns_per_row_low": low,
        "ns_per_row_high": high,
        "bare_ns_per_row": round(ratios.mean_of([bare for _, bare in pairs]).mean, 1),
    }


def table(found: Mapping[str, object]) -> str:
    return (
        f"watch_keys adds {found['ns_per_row']} ns a row ({found['ns_per_row_low']} to "
        f"{found['ns_per_row_high']}, 95 %) to {found['bare_ns_per_row']} ns: {found['rounds']} "
        f"rounds of {found['rows']} rows"
    )


def session() -> SparkSession:
    builder = (
        SparkSession.Builder()
        .master("local[1]")
        .appName("watch-keys")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
    )
    # Nothing is sent: there is no query, so it does not matter whether a Redis is there.
    redis = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
    spark = instrument(builder, redis=redis).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def keyed(spark: SparkSession, rows: int) -> DataFrame:
    rare = F.pmod(F.xxhash64("id"), F.lit(KEYS))
    user = F.when(F.col("id") % 2 == 0, F.lit(7)).otherwise(rare)
    return spark.range(0, rows, 1, 1).select(user.cast("string").alias("user"))


def task_ns(frame: DataFrame, pid: int) -> float:
    before_s = task_cpu_s(pid)
    frame.write.format("noop").mode("overwrite").save()
    # The kernel counts a running thread's time at its next tick.
    time.sleep(0.05)
    return (task_cpu_s(pid) - before_s) * 1e9

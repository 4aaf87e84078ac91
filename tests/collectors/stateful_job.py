"""A job for tests of state stores: runs each query over all its input, says what came out, ends.

    python -m tests.collectors.stateful_job '{"queries": [{"name", "kind", "folder"}], "options"}'

A folder has the query's input in `in` and its checkpoint in `checkpoint`; every file of input is a
micro-batch of its own, so two runs over the same input say the same. A query may have `options` of
its own.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

PROVIDERS = "org.apache.spark.sql.execution.streaming.state."
PARTITIONS = 2
KEYS = 7

OPTIONS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}RocksDBStateStoreProvider",
    # Left to themselves, these threads talk when they like: no two logs would be the same.
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
}


@dataclass(frozen=True)
class Outcome:
    name: str
    run_id: str
    batches: int
    counts: dict[str, int]
    metrics: dict[str, int]  # what the state store counted itself, summed over the batches


class Counting(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self._count = handle.getValueState("count", "count long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        before = self._count.get()
        count = (before[0] if before else 0) + sum(len(each) for each in rows)
        self._count.update((count,))
        yield pd.DataFrame({"key": [key[0]], "count": [count]})

    def close(self) -> None:
        pass


def counts_of(rows: DataFrame, kind: str) -> DataFrame:
    keyed = rows.select((F.col("value").cast("int") % KEYS).alias("key")).groupBy("key")
    if kind == "count":
        return keyed.count()
    return keyed.transformWithStateInPandas(
        statefulProcessor=Counting(),
        outputStructType="key int, count long",
        outputMode="Update",
        timeMode="None",
    )


def run(
    spark: SparkSession,
    name: str,
    kind: str,
    folder: str,
    options: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    seen: dict[str, int] = {}
    for key, value in options.items():
        spark.conf.set(key, value)

    def keep(frame: DataFrame, _batch_id: int) -> None:
        seen.update({str(row["key"]): row["count"] for row in frame.collect()})

    rows = spark.readStream.option("maxFilesPerTrigger", 1).text(f"{folder}/in")
    query = (
        counts_of(rows, kind)
        .writeStream.queryName(name)
        .outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    worked = [each for each in query.recentProgress if each.numInputRows]
    metrics: Counter[str] = Counter()
    for each in worked:
        metrics.update(each.stateOperators[0].customMetrics)
    return Outcome(name, str(query.runId), len(worked), seen, dict(metrics))


def main(asked: dict[str, Any]) -> None:
    builder = SparkSession.Builder().appName("stateful-job")
    for key, value in (OPTIONS | asked["options"]).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for query in asked["queries"]:
        print(json.dumps(asdict(run(spark, **query))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

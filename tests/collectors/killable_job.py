"""A job that a test steers, looks into and kills: one query that flushes, one with changelogs.

    python -m tests.collectors.killable_job '{"redis", "folders": {name: path}, "options"}'

Every line on its input is a question: when all input is done, the answer is a line of JSON with the
state of every state store, as Spark and RocksDB have it.
"""

import json
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from collectors import instrument
from tests.collectors.stateful_job import OPTIONS, counts_of

CHANGELOGS = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def main(asked: dict[str, Any]) -> None:
    builder = instrument(
        SparkSession.Builder().appName("mortal"), redis=asked["redis"], job="tests"
    )
    for key, value in (OPTIONS | asked["options"]).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    queries = [started(spark, name, folder) for name, folder in asked["folders"].items()]
    for _ in sys.stdin:
        for query in queries:
            query.processAllAvailable()
        print(json.dumps(told(spark, queries)), flush=True)


def started(spark: SparkSession, name: str, folder: str) -> StreamingQuery:
    def drain(frame: DataFrame, _batch_id: int) -> None:
        frame.collect()

    spark.conf.set(CHANGELOGS, str(name == "changelogs").lower())
    rows = spark.readStream.option("maxFilesPerTrigger", 1).text(f"{folder}/in")
    return (
        counts_of(rows, "count")
        .writeStream.queryName(name)
        .outputMode("update")
        .foreachBatch(drain)
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(processingTime="0 seconds")
        .start()
    )


def told(spark: SparkSession, queries: list[StreamingQuery]) -> dict[str, Any]:
    jvm: Any = spark.sparkContext._jvm
    names = {str(query.runId): query.name for query in queries}
    loaded = jvm.io.curtail.probe.StateStores.loaded()
    stores: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for number in range(loaded.size()):
        store = loaded.apply(number)
        if name := names.get(store.id().runId()):
            stores[name].append(store_told(store))
    env, priority = jvm.org.rocksdb.Env.getDefault(), jvm.org.rocksdb.Priority
    return {
        "stores": stores,
        "threads": [env.getBackgroundThreads(priority.valueOf(each)) for each in ("HIGH", "LOW")],
        "collector": jvm.io.curtail.probe.CollectorProcess.pid(),
        "jvm": jvm.java.lang.ProcessHandle.current().pid(),
    }


def store_told(store: Any) -> dict[str, Any]:
    database, wrapper = store.database(), store.wrapper()
    options = database.getOptions()
    return {
        "trigger": options.level0FileNumCompactionTrigger(),
        "disabled": options.disableAutoCompactions(),
        "level0": int(database.getProperty("rocksdb.num-files-at-level0")),
        "version": wrapper.loadedVersion(),
        "snapshot": last_snapshot(wrapper),
    }


def last_snapshot(wrapper: Any) -> int:
    fields = wrapper.getClass().getDeclaredFields()
    (field,) = (each for each in fields if each.getName().endswith("$lastSnapshotVersion"))
    field.setAccessible(True)
    return int(field.getLong(wrapper))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

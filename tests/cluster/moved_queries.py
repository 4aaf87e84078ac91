"""The queries whose state is moved: over known input, so that two runs put out the same batches.

Each comes with snapshots in every commit and with changelogs, and the aggregation with the state
store that is Spark's default, which keeps its state in the heap.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

KEYS = 12
ROWS_PER_BATCH = 120
# A row's partner comes so many rows later, which is one batch or two.
LATER = 150
START_MS = 1_700_000_000_000
BATCH_MS = 1_000

_STORES = "org.apache.spark.sql.execution.streaming.state."
_CONF = "spark.sql.streaming.stateStore."
_HEAP = {f"{_CONF}providerClass": f"{_STORES}HDFSBackedStateStoreProvider"}
_ROCKSDB = {f"{_CONF}providerClass": f"{_STORES}RocksDBStateStoreProvider"}
_CHANGELOG = f"{_CONF}rocksdb.changelogCheckpointing.enabled"


class Totals(StatefulProcessor):
    """Keeps a sum by key and how many rows each key had of every remainder."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._total = handle.getValueState("total", "total long")
        self._seen = handle.getMapState("seen", "remainder long", "rows long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        before = self._total.get()
        total = before[0] if before else 0
        for frame in rows:
            total += int(frame["value"].sum())
            for remainder, count in (frame["value"] % 5).value_counts().items():
                at = (int(remainder),)
                known = self._seen.getValue(at) if self._seen.containsKey(at) else None
                self._seen.updateValue(at, ((known[0] if known else 0) + int(count),))
        self._total.update((total,))
        yield pd.DataFrame({"key": [key[0]], "total": [total]})

    def close(self) -> None:
        pass


def aggregation(numbers: Callable[[], DataFrame]) -> DataFrame:
    return (
        numbers()
        .groupBy((F.col("value") % KEYS).alias("key"))
        .agg(F.count("*").alias("rows"), F.sum("value").alias("total"))
    )


def joined(numbers: Callable[[], DataFrame]) -> DataFrame:
    """Each row with its partner; rows without one come when the watermark has passed them."""
    left = numbers().selectExpr("value AS id", "timestamp AS at").withWatermark("at", "2 seconds")
    right = (
        numbers()
        .where("value % 3 != 0")
        .selectExpr(f"value - {LATER} AS partner", "timestamp AS came")
        .withWatermark("came", "2 seconds")
    )
    together = F.expr("id = partner AND came BETWEEN at AND at + INTERVAL 4 SECONDS")
    return left.join(right, together, "leftOuter").selectExpr(
        "id", "unix_millis(at)", "partner", "unix_millis(came)"
    )


def processor(numbers: Callable[[], DataFrame]) -> DataFrame:
    keyed = numbers().select((F.col("value") % KEYS).alias("key"), "value").groupBy("key")
    return keyed.transformWithStateInPandas(
        Totals(), outputStructType="key long, total long", outputMode="Update", timeMode="None"
    )


@dataclass(frozen=True)
class Moved:
    """`state` has, for each part of the final state, the options by which Spark reads it."""

    made: Callable[[Callable[[], DataFrame]], DataFrame]
    mode: str
    conf: Mapping[str, str]
    state: tuple[Mapping[str, str], ...] = ({},)

    @property
    def is_python(self) -> bool:
        return self.made is processor

    def frame(self, spark: SparkSession) -> DataFrame:
        def numbers() -> DataFrame:
            return (
                spark.readStream.format("rate-micro-batch")
                .option("rowsPerBatch", ROWS_PER_BATCH)
                .option("numPartitions", 1)
                .option("startTimestamp", START_MS)
                .option("advanceMillisPerBatch", BATCH_MS)
                .load()
            )

        return self.made(numbers)


_SIDES = ({"joinSide": "left"}, {"joinSide": "right"})
_VARIABLES = ({"stateVarName": "total"}, {"stateVarName": "seen"})
QUERIES = {
    "aggregation_heap": Moved(aggregation, "update", _HEAP),
    **{
        f"{name}_{word}": Moved(made, mode, {**_ROCKSDB, _CHANGELOG: changelog}, state)
        for word, changelog in (("snapshots", "false"), ("changelog", "true"))
        for name, made, mode, state in (
            ("aggregation", aggregation, "update", ({},)),
            ("join", joined, "append", _SIDES),
            ("processor", processor, "update", _VARIABLES),
        )
    },
}

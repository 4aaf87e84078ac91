"""The Spark half of the pool's benchmark: one session, what it reads, what is done to a batch.

A *case* is one frame that goes to `noop` either through `mapInArrow` or through `pooled`, with the
same operator. Costs are in the rows: the first row of every chunk holds the cost of the whole
chunk, and an operator pays the sum over its rows. So both ways pay the same, however Spark cuts
batches.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dashboard.cli import programs
from techniques.pool import pooled
from techniques.pool.plan import Operator
from techniques.pool.workload.driver import ended
from techniques.pool.workload.heterogeneity import skewed_us

CORES = 2
PLAIN, POOLED = "plain", "pooled"

NOOP_CHUNK_ROWS = 1024
NOOP_SCHEMA = (
    "order long, price double, placed timestamp, customer string, city string, status string"
)

LEAST_US, MOST_US = 1_000, 50_000
PARTITIONS = 4
SKEW_CHUNK_ROWS = 64
SKEW_SCHEMA = "id long, cost_us long"
# A quarter of the chunks are heavy, and nine in ten of these are in one partition.
HEAVY_SHARE, HEAVY_TOGETHER = 0.25, 0.9


@dataclass(frozen=True)
class Case:
    name: str
    rows: int
    ways: Mapping[str, DataFrame]

    def turn_s(self, way: str) -> float:
        began_s = time.perf_counter()
        self.ways[way].write.format("noop").mode("overwrite").save()
        return time.perf_counter() - began_s

    def check(self) -> None:
        """Checks that both ways put out the same rows, or their times could not be compared."""
        key = F.col(next(iter(self.ways.values())).columns[0])
        put_out = {
            way: tuple(frame.agg(F.count(key), F.sum(key), F.sum(key * key)).collect()[0])
            for way, frame in self.ways.items()
        }
        if len({*put_out.values()}) != 1 or put_out[PLAIN][0] != self.rows:
            raise RuntimeError(f"{self.name}: {self.rows} rows in, and out came {put_out}")


@contextmanager
def session() -> Iterator[SparkSession]:
    with patch.dict(os.environ, programs.same_python()):
        spark = (
            SparkSession.Builder()
            .master(f"local[{CORES}]")
            .appName("bench-pool")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def case(
    spark: SparkSession, name: str, frame: DataFrame, operator: Operator, schema: str, rows: int
) -> Iterator[Case]:
    """Yields a case; its pool is stopped at the end."""
    chunk_rows = NOOP_CHUNK_ROWS if schema == NOOP_SCHEMA else SKEW_CHUNK_ROWS
    through_pool = pooled(operator, schema, chunk_rows=chunk_rows, name=name)
    ways = {
        PLAIN: frame.mapInArrow(_each(operator), schema),
        POOLED: frame.transform(through_pool),
    }
    try:
        yield Case(name, rows, ways)
    finally:
        ended(spark.sparkContext.applicationId, name)


def _each(operator: Operator) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    return lambda batches: map(operator, batches)


def identity(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def orders(spark: SparkSession, rows: int) -> DataFrame:
    """Six columns, about 60 bytes a row."""
    order = F.col("id")
    return spark.range(0, rows, 1, CORES).select(
        order.alias("order"),
        (order * 0.37).alias("price"),
        F.timestamp_micros(1_750_000_000_000_000 + order * 1_000).alias("placed"),
        F.concat(F.lit("customer-"), (order % 5_000).cast("string")).alias("customer"),
        F.element_at(F.array(*map(F.lit, ("Lima", "Oslo", "Nairobi", "Kyoto"))), _nth(4)).alias(
            "city"
        ),
        F.element_at(F.array(*map(F.lit, ("new", "paid", "sent"))), _nth(3)).alias("status"),
    )


def _nth(of: int) -> Column:
    return (F.col("id") % of + 1).cast("int")


class Costly:
    """Pays what its rows cost: waits, as for somebody's answer, or keeps a core busy."""

    def __init__(self, burn: bool) -> None:
        self._burn = burn

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        cost_s = (pc.sum(batch.column("cost_us")).as_py() or 0) / 1e6
        if not self._burn:
            time.sleep(cost_s)
            return batch
        # CPU time and not the clock's: four that watch a clock on two cores would all be done
        # with half of their work.
        end_s = time.thread_time() + cost_s
        while time.thread_time() < end_s:
            pass
        return batch


def costly_rows(spark: SparkSession, costs_us: Sequence[NDArray[np.int64]]) -> DataFrame:
    """A partition for each of `costs_us`, a chunk of it for each cost."""
    flat = [int(cost) for part in costs_us for cost in part]
    chunk = (F.col("id") / SKEW_CHUNK_ROWS).cast("int")
    cost = F.element_at(F.array(*map(F.lit, flat)), chunk + 1).cast("long")
    first = F.col("id") % SKEW_CHUNK_ROWS == 0
    rows = spark.range(0, len(flat) * SKEW_CHUNK_ROWS, 1, len(costs_us))
    return rows.select("id", F.when(first, cost).otherwise(F.lit(0)).alias("cost_us"))


def skewed_partitions(chunks: int, seed: int = 0) -> list[NDArray[np.int64]]:
    """Costs of chunks, the same number in every partition; most of the heavy ones in the first."""
    each = chunks // PARTITIONS
    drawn = np.random.default_rng(seed)
    costs_us = np.sort(skewed_us(each * PARTITIONS, LEAST_US, MOST_US, seed))[::-1]
    heavy = drawn.permutation(costs_us[: int(len(costs_us) * HEAVY_SHARE)])
    light = drawn.permutation(costs_us[len(heavy) :])
    together = min(each, int(len(heavy) * HEAVY_TOGETHER))
    first = np.concatenate([heavy[:together], light[: each - together]])
    rest = drawn.permutation(np.concatenate([heavy[together:], light[each - together :]]))
    return [drawn.permutation(first), *np.split(rest, PARTITIONS - 1)]


def plain_s(costs_us: Sequence[NDArray[np.int64]], cores: int = CORES) -> float:
    """The least time of plain tasks, which take one partition after another, chunk by chunk."""
    free_s = [0.0] * cores
    for part in costs_us:
        free_s[free_s.index(min(free_s))] += float(part.sum()) / 1e6
    return max(free_s)


def shared_s(costs_us: Sequence[NDArray[np.int64]], workers: int) -> float:
    """The least time of so many workers that share all chunks."""
    return sum(float(part.sum()) for part in costs_us) / 1e6 / workers

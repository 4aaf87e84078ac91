"""`pooled`: a Python operator of a Spark job on a pool of long-lived instances."""

from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from techniques.pool.plan import MOST_CHUNK_ROWS, Operator, Plan, checked_name, stages_of, within
from techniques.pool.policies import BASELINE, number_of
from techniques.pool.task import through

MOST_WINDOW = 4096
LEAST_MEMORY_MB, MOST_MEMORY_MB = 8, 64 * 1024
MB = 1024 * 1024
# StreamExecution.QUERY_ID_KEY of Spark, which every task of a query's batches has.
QUERY_ID = "sql.streaming.queryId"


def pooled(
    operator: Operator | Sequence[Operator],
    schema: StructType | str,
    *,
    instances: int | Sequence[int] = 4,
    most: int | Sequence[int] | None = None,
    chunk_rows: int = 1024,
    name: str | None = None,
    ordered: bool = False,
    window: int | None = None,
    memory_mb: int = 256,
    policy: str = BASELINE,
    idle_s: float = 600,
) -> Callable[[DataFrame], DataFrame]:
    """For `DataFrame.transform`: `operator` on `instances` processes beside every executor.

    `operator` is a function from `pyarrow.RecordBatch` to `RecordBatch` that does not depend on how
    rows are cut into batches, or a list of them, a chain; `instances` is a number for each, or one
    number per operator, and `most` how many it may grow to while the pool runs (if absent, twice
    as many, or four more). `schema` is that of the last one's result, as for `mapInArrow`. An
    operator with a method `warm_up` has it called once on every instance before the first chunk.

    A task has at most `window` chunks of `chunk_rows` rows in the pool at a time (if absent, two
    for each instance that there is now), and all of a host's data in the pool stays below
    `memory_mb`. Results leave in the order of the input only if `ordered`.
    """
    plan = made(
        operator,
        instances=instances,
        most=most,
        chunk_rows=chunk_rows,
        name=name,
        ordered=ordered,
        window=window,
        memory_mb=memory_mb,
        policy=policy,
        idle_s=idle_s,
    )

    def transform(frame: DataFrame) -> DataFrame:
        application = frame.sparkSession.sparkContext.applicationId

        def on_pool(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return through(application, plan, batches, query_of_task())

        return frame.mapInArrow(on_pool, schema)

    return transform


def query_of_task() -> UUID | None:
    """Returns the streaming query of this process's Spark task; None for a batch job."""
    context = TaskContext.get()
    told = context.getLocalProperty(QUERY_ID) if context else None
    try:
        return UUID(told) if told else None
    except ValueError:
        return None


def made(
    operator: Operator | Sequence[Operator],
    *,
    instances: int | Sequence[int] = 4,
    most: int | Sequence[int] | None = None,
    chunk_rows: int = 1024,
    name: str | None = None,
    ordered: bool = False,
    window: int | None = None,
    memory_mb: int = 256,
    policy: str = BASELINE,
    idle_s: float = 600,
) -> Plan:
    """Checks the arguments, fills in defaults and returns the plan."""
    stages = stages_of(operator, instances, most)
    number_of(policy)
    within("chunk_rows", chunk_rows, MOST_CHUNK_ROWS)
    within("memory_mb", memory_mb, MOST_MEMORY_MB, LEAST_MEMORY_MB)
    within("idle_s", idle_s, 7 * 24 * 3600)
    if window is not None:
        within("window", window, MOST_WINDOW)
    return Plan(
        name=checked_name(name if name is not None else stages[0].name),
        stages=stages,
        chunk_rows=chunk_rows,
        window=window,
        memory_bytes=memory_mb * MB,
        ordered=ordered,
        policy=policy,
        idle_s=idle_s,
    )

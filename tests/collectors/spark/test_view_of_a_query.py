"""A real query's view: what controllers see of its tasks, its shuffles and its pool."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors.formats import keys
from dashboard.store.redis import RedisStore
from dashboard.testing.stack import RedisServer
from dashboard.worker import loop
from dashboard.worker.histories import Histories
from techniques.pool import control, pooled
from techniques.view import EVERYTHING, Locality, View
from tests.collectors.conftest import spark_session
from tests.techniques.pool.running import PATIENCE_S
from tests.waiting import until

pytestmark = pytest.mark.spark

JOB = "tests.viewed"
POOL = "viewed"


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    """One that gives a failed task another try, which Spark's local mode does when asked to."""
    with pytest.MonkeyPatch.context() as patched:
        # Or Spark's workers would be the system's Python, which has no Arrow.
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        options = {
            "spark.master": "local[2,3]",
            "spark.sql.streaming.stateStore.providerClass": (
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
            ),
        }
        with spark_session(module_redis.url, **options) as session:
            yield session


@contextmanager
def ended_pool(application: str) -> Iterator[None]:
    """Here the executor is this process's JVM, which outlives its session: so would the pool."""
    try:
        yield
    finally:
        if pool := control.running(application, POOL):
            page = pool.page()
            supervisor = page.supervisor
            page.close()
            os.kill(supervisor.pid, signal.SIGTERM)
            until(lambda: not supervisor.lives(), PATIENCE_S)


def test_a_view_has_the_tasks_the_shuffles_and_the_pool_of_a_real_query(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    # The first to set a property of the JVM is told that there was none: one task fails once.
    first = f"reflect('java.lang.System', 'setProperty', '{checkpoint('tried')}', 'yes') = 'null'"
    # Not in the first batches: what a run does while it warms up is in no view.
    stumbling = f"CASE WHEN value >= 8000 AND {first} THEN raise_error('once') ELSE value END"

    # In here, so that the pool's instances need not import this module and Django with it.
    def same(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    on_pool = pooled(same, "id long", instances=2, chunk_rows=20, name=POOL)
    store, histories = RedisStore(module_redis.url), Histories(EVERYTHING)

    def seen() -> View | None:
        newest_ms = loop.run(store.newest_ms(keys.frames(JOB)))
        histories.read(store, [JOB], newest_ms)
        view = histories.view(JOB)
        if view is None or not view.pools:
            return None
        worked = sum(float(np.nansum(each.executed)) for each in view.pools[0].instances)
        # Every batch has a stage that maps and one that reduces: two batches at least.
        stages = set(view.tasks.stage.tolist())
        retried = bool((view.tasks.attempt > 0).any())
        sized = set(view.of("state").partition.tolist()) == {0, 1}
        enough = worked >= 20 and len(stages) >= 4 and len(view.traffic) and retried and sized
        return view if enough else None

    with ended_pool(spark.sparkContext.applicationId):
        query = (
            spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", 400)
            .option("numPartitions", 2)
            .load()
            .select(F.expr(stumbling).alias("id"))
            .transform(on_pool)
            .groupBy((F.col("id") % 7).alias("key"))
            .count()
            .writeStream.queryName(POOL)
            .format("noop")
            .outputMode("update")
            .option("checkpointLocation", checkpoint("viewed"))
            .trigger(processingTime="500 milliseconds")
            .start()
        )
        view = until(seen, PATIENCE_S)
        query.stop()
    loop.run(store.close())
    assert view is not None
    assert histories.failure(JOB) == ""

    tasks = view.tasks
    again = tasks.attempt > 0
    # It was tried again for the partition that failed, in the same stage.
    failed = ~tasks.successful & (tasks.attempt == 0)
    assert set(zip(tasks.stage[again], tasks.partition[again], strict=True)) == set(
        zip(tasks.stage[failed], tasks.partition[failed], strict=True)
    )
    assert not tasks.speculative.any()
    assert set(tasks.executor) == {"driver"}
    assert set(tasks.partition) == {0, 1}
    assert set(tasks.locality) <= {Locality.PROCESS_LOCAL, Locality.NO_PREF}
    # In every batch first the stage with the pool, then the one that counts and writes.
    assert set(zip(tasks.kind, tasks.stateful, tasks.result, strict=True)) == {
        (0, False, False),
        (1, True, True),
    }
    assert (tasks.waited_ms >= 0).all()
    assert "noop" in view.sink.lower()

    state = view.of("state")
    assert set(zip(state.executor, state.operator, state.name, strict=True)) == {
        ("driver", 0, "default")
    }
    assert (state.input_bytes > 0).all()
    assert (state.duration_ms == 0).all()

    assert set(view.traffic.source) == set(view.traffic.target) == {"driver"}
    assert view.traffic.shuffle_bytes.sum() > 0
    (executor,) = view.executors
    assert (executor.id, executor.left_ms) == ("driver", None)
    assert (executor.cores, executor.leaving) == (2, False)

    (pool,) = view.pools
    assert pool.name == POOL
    assert [each.name for each in pool.instances] == ["same-0", "same-1"]
    assert sum(len(each.latency) for each in pool.instances) > 0
    assert set(pool.sent.source) == {""}
    assert set(pool.sent.target) <= {"same-0", "same-1"}
    assert len(view.queues) == 2

"""A real pooled query: what its instances did is in the frames, once."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from collectors.formats.buckets import merged
from collectors.formats.pools import PoolSample
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.testing.stack import RedisServer
from techniques.pool import control, pooled
from techniques.pool.page import READY, Page
from techniques.pool.page_words import HeaderWord, InstanceWord
from tests.collectors.conftest import spark_session
from tests.collectors.frames import arrived_when
from tests.techniques.pool.running import PATIENCE_S
from tests.waiting import until

pytestmark = pytest.mark.spark

CHUNK_S = 0.01


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patched:
        # Or Spark's workers would be the system's Python, which has no Arrow.
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        with spark_session(module_redis.url) as session:
            yield session


class Counted:
    """An operator that says of itself how often it was run."""

    __name__ = "counted"

    def __init__(self, told: str) -> None:
        self._told = told

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        time.sleep(CHUNK_S)
        with open(self._told, "ab", buffering=0) as file:
            file.write(b".")
        return batch


def done(page: Page) -> list[int]:
    """Chunks executed, rows in and chunks taken, so far."""
    words = (InstanceWord.EXECUTED, InstanceWord.ROWS_IN, InstanceWord.TAKEN)
    instances = range(page.instances)
    return [sum(page.words[page.instance(one, word)] for one in instances) for word in words]


def told_of(frames: list[Frame], after: int) -> list[PoolSample]:
    return [
        pool
        for frame in frames
        for pool in frame.pools
        if pool.name == "counted" and frame.window > after
    ]


def totals(told: list[PoolSample]) -> list[int]:
    instances = [each for pool in told for each in pool.instances]
    return [
        sum(each.executed for each in instances),
        sum(each.rows_in for each in instances),
        sum(sent.chunks for pool in told for sent in pool.sent),
    ]


def arrive(folder: Path, rows: int) -> None:
    """A file of so many rows, whole when the query first sees it."""
    made = folder / f"_{uuid4().hex}"
    made.write_text("".join(f"{row}\n" for row in range(rows)))
    made.rename(folder / f"{made.name[1:]}.csv")


@contextmanager
def running_page(application: str) -> Iterator[Page]:
    pool = control.running(application, "counted")
    assert pool is not None
    page = pool.page()
    supervisor = page.supervisor
    try:
        yield page
    finally:
        page.close()
        # Here the executor is this process's JVM, which outlives its session.
        os.kill(supervisor.pid, signal.SIGTERM)
        until(lambda: not supervisor.lives(), PATIENCE_S)


def test_every_chunk_of_a_pooled_query_is_in_the_frames_once(
    spark: SparkSession,
    module_redis: RedisServer,
    checkpoint: Callable[[str], str],
    tmp_path: Path,
) -> None:
    told = tmp_path / "told"
    told.touch()
    on_pool = pooled(Counted(str(told)), "id long", instances=2, chunk_rows=20, name="counted")

    def started(name: str, source: Any) -> Any:
        sink = source.writeStream.queryName(name).format("noop")
        return sink.option("checkpointLocation", checkpoint(name))

    # One that does nothing to the pool.
    idle = started("idle", spark.readStream.format("rate").load())
    idle.trigger(processingTime="1 hour").start()
    orders = tmp_path / "orders"
    orders.mkdir()
    arrive(orders, 20)
    source = spark.readStream.schema("id long").csv(str(orders))
    started("pooled", source.transform(on_pool)).start()
    until(lambda: control.running(spark.sparkContext.applicationId, "counted"), PATIENCE_S)
    with running_page(spark.sparkContext.applicationId) as page:

        def is_up(frames: list[Frame]) -> bool:
            last = [pool for pool in frames[-1].pools if pool.name == "counted"]
            ready = bool(last) and all(each.state == READY for each in last[0].instances)
            return ready and done(page)[0] > 0 and last[0].held_chunks == 0

        # What was done before the first look is in no frame: so it is at rest until then.
        first = arrived_when(module_redis, "tests.pooled", is_up, PATIENCE_S)[-1]
        warm, ran = done(page), told.stat().st_size
        for _ in range(2):
            arrive(orders, 2_000)
        until(lambda: done(page)[0] > warm[0] + 60, PATIENCE_S)
        os.kill(page.words[page.instance(0, InstanceWord.PID)], signal.SIGKILL)
        until(lambda: page.words[HeaderWord.REPLACED] == 1 and len(page.ready(0)) == 2, PATIENCE_S)
        until(lambda: done(page)[0] > warm[0] + 160, PATIENCE_S)

        def agrees(frames: list[Frame]) -> bool:
            """Or parts were late on a busy machine, which is counted: what was in them is not."""
            busy = [page.words[page.instance(one, InstanceWord.BUSY_SINCE)] for one in range(2)]
            pools = told_of(frames, first.window)
            grown = [now - before for now, before in zip(done(page), warm, strict=True)]
            executed = sum(each.executed for pool in pools for each in pool.instances)
            recorded = sum(each.latency.count for pool in pools for each in pool.instances)
            whole = totals(pools) == grown and executed - recorded in (0, 1)
            last = bool(pools) and pools[-1].replaced == 1
            return last and not any(busy) and (whole or frames[-1].health.late_parts > late)

        late = first.health.late_parts
        frames = arrived_when(module_redis, "tests.pooled", agrees, PATIENCE_S)
        pools = told_of(frames, first.window)
        mine = [[pool.instances[one] for pool in pools] for one in range(2)]
        assert max(each.queued for one in mine for each in one) > 0
        assert max(pool.held_chunks for pool in pools) > 0
        wall_us = (frames[-1].window - first.window + 1) * WINDOW_MS * 1000
        for one in mine:
            assert 0 < sum(each.busy_us for each in one) <= wall_us
        if frames[-1].health.late_parts == late:
            executed = totals(pools)[0]
            # Instances are read before tasks: what was executed was sent before, and only once.
            again = pools[-1].handed_out_again
            assert executed - again <= sum(pool.chunks_sent for pool in pools) <= 200
            assert sum(pool.replayed for pool in pools) == 0
            # The one that was killed may have run its chunk and not counted it.
            assert 0 <= told.stat().st_size - ran - executed <= 1
            kept = mine[1]
            chunks = sum(each.executed for each in kept)
            assert merged(each.latency for each in kept).count == chunks
            assert sum(each.busy_us for each in kept) >= chunks * CHUNK_S * 1e6 - 1
        # The other query of the application did not use it.
        others = arrived_when(
            module_redis, "tests.idle", lambda all_: all_[-1].window > frames[-1].window
        )
        assert [frame.pools for frame in others if frame.pools] == []

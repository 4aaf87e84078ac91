"""A pooled operator in real Spark jobs: equal to the plain function, whoever is killed."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from techniques.pool import control, pooled
from techniques.pool.host.identity import Process
from techniques.pool.page import Page
from techniques.pool.page_words import InstanceWord, SlotWord
from tests.techniques.pool.running import PATIENCE_S
from tests.waiting import until

pytestmark = pytest.mark.spark

SCHEMA = "id long, twice long, worker long"
ROWS = 3_000
# To each policy and back.
SWITCHES = 8


def twice(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The plain function: slow enough that somebody can be killed in the middle."""
    time.sleep(0.01)
    if 77_777 in batch.column("id").to_pylist():
        raise LookupError("no room for 77777")
    ids = batch.column("id").to_pylist()
    made = [ids, [2 * one for one in ids], [os.getpid()] * len(ids)]
    return pa.RecordBatch.from_pydict(
        dict(zip(("id", "twice", "worker"), made, strict=True)),
        pa.schema({"id": pa.int64(), "twice": pa.int64(), "worker": pa.int64()}),
    )


on_pool = pooled(twice, SCHEMA, instances=2, chunk_rows=20, name="twice")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patched:
        # Or Spark's workers would be the system's Python, which has no Arrow.
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        yield from session()


def session() -> Iterator[SparkSession]:
    made = (
        SparkSession.Builder()
        # A task may fail three times, as on a cluster; on plain local[2] never.
        .master("local[2,4]")
        .appName("pool-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    application = made.sparkContext.applicationId
    try:
        yield made
    finally:
        pool = control.running(application, "twice")
        supervisor = _supervisor(pool) if pool else None
        made.stop()
        # Here the executor is this process's JVM, which outlives its session.
        if supervisor is not None:
            os.kill(supervisor.pid, signal.SIGTERM)
            until(lambda: not supervisor.lives(), PATIENCE_S)


def _supervisor(pool: control.RunningPool) -> Process:
    page = pool.page()
    try:
        return page.supervisor
    finally:
        page.close()


@pytest.fixture
def pool(spark: SparkSession) -> control.RunningPool:
    """Up, with all instances ready."""
    spark.range(1).transform(on_pool).collect()
    found = control.running(spark.sparkContext.applicationId, "twice")
    assert found is not None
    page = found.page()
    try:
        until(lambda: len(page.ready(0)) == 2, PATIENCE_S)
    finally:
        page.close()
    return found


def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(0, ROWS, 1, 2)


def answers(frame: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["id"], row["twice"]) for row in frame.transform(on_pool).collect())


EXPECTED = [(one, 2 * one) for one in range(ROWS)]


def after_killing(
    spark: SparkSession, pool: control.RunningPool, whom: Callable[[Page], int | None]
) -> list[tuple[int, int]]:
    """The answers of a job in the middle of which somebody is killed."""
    page = pool.page()
    executed = [page.instance(one, InstanceWord.EXECUTED) for one in range(page.instances)]
    before = sum(page.words[at] for at in executed)

    def kill() -> None:
        until(
            lambda: sum(page.words[at] for at in executed) - before > 30,
            PATIENCE_S,
            0.005,
        )
        pid = until(lambda: whom(page), PATIENCE_S, 0.001)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    try:
        with ThreadPoolExecutor(1) as threads:
            killed = threads.submit(kill)
            found = answers(numbers(spark))
            assert killed.done()
            killed.result()
        return found
    finally:
        page.close()


def test_the_output_is_that_of_the_plain_function(
    spark: SparkSession, pool: control.RunningPool
) -> None:
    assert answers(numbers(spark)) == EXPECTED
    by = {row["worker"] for row in numbers(spark).transform(on_pool).collect()}
    page = pool.page()
    try:
        assert by <= {page.words[page.instance(one, InstanceWord.PID)] for one in range(2)}
    finally:
        page.close()


def test_a_killed_instance_changes_nothing(spark: SparkSession, pool: control.RunningPool) -> None:
    def whom(page: Page) -> int:
        return page.words[page.instance(1, InstanceWord.PID)]

    assert after_killing(spark, pool, whom) == EXPECTED


def test_a_killed_supervisor_changes_nothing(
    spark: SparkSession, pool: control.RunningPool
) -> None:
    assert after_killing(spark, pool, lambda page: page.supervisor.pid) == EXPECTED
    assert control.running(spark.sparkContext.applicationId, "twice") != pool


def test_a_killed_python_worker_changes_nothing(
    spark: SparkSession, pool: control.RunningPool
) -> None:
    """Spark runs its task again, from the first row, with another worker."""

    def whom(page: Page) -> int | None:
        busy = [slot for slot in page.holders() if page.words[page.slot(slot, SlotWord.CHUNKS)]]
        return page.holder(busy[0]).pid if busy else None

    assert after_killing(spark, pool, whom) == EXPECTED


def test_an_exception_fails_the_job_with_the_users_traceback(
    spark: SparkSession, pool: control.RunningPool
) -> None:
    with pytest.raises(PySparkException) as failed:
        spark.range(77_770, 77_780, 1, 1).transform(on_pool).collect()
    told = str(failed.value)
    assert "LookupError: no room for 77777" in told
    assert "in twice" in told


@contextmanager
def streaming(spark: SparkSession, checkpoint: Path, rows_per_batch: int) -> Iterator[None]:
    rows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows_per_batch)
        .option("numPartitions", 2)
        .load()
        .select(F.col("value").alias("id"))
    )
    query = (
        rows.transform(on_pool)
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    try:
        yield
        assert query.exception() is None
    finally:
        query.stop()


@contextmanager
def switching(pool: control.RunningPool) -> Iterator[Page]:
    """Its page; in the end the pool is as it was."""
    page = pool.page()
    try:
        yield page
    finally:
        pool.switch("round-robin")
        page.close()


def at_work(page: Page) -> list[int]:
    return [slot for slot in page.holders() if page.words[page.slot(slot, SlotWord.CHUNKS)]]


def in_force(page: Page, version: int) -> bool:
    """For tasks at work: of a pool at rest it would be true at once."""
    slots = at_work(page)
    chosen_by = [page.words[page.slot(slot, SlotWord.CONTROL_SEEN)] for slot in slots]
    return bool(slots) and min(chosen_by) == version and page.seen_by_all(version)


def test_the_policy_of_a_running_query_is_switched(
    spark: SparkSession, pool: control.RunningPool, tmp_path: Path
) -> None:
    with streaming(spark, tmp_path, 400), switching(pool) as page:

        def sent() -> int:
            return sum(page.words[page.slot(slot, SlotWord.SENT)] for slot in page.holders())

        before = sent()
        until(lambda: sent() > before + 40, PATIENCE_S)
        version = pool.switch("fewest-queued")
        until(lambda: in_force(page, version), PATIENCE_S, every_s=0.001)
        assert pool.policy() == "fewest-queued"


def switch_s(pool: control.RunningPool, page: Page, policy: str) -> float:
    """Until all tasks at work choose by it."""
    until(lambda: at_work(page), PATIENCE_S, every_s=0.001)
    began_s = time.monotonic()
    version = pool.switch(policy)
    until(lambda: in_force(page, version), PATIENCE_S, every_s=0.001)
    return time.monotonic() - began_s


@pytest.mark.quiet
def test_a_switch_reaches_all_tasks_of_a_running_query_within_200_ms(
    spark: SparkSession, pool: control.RunningPool, tmp_path: Path
) -> None:
    # Batches of about a second, so that few switches fall between two of them.
    with streaming(spark, tmp_path, 4_000), switching(pool) as page:
        policies = ["fewest-queued", "round-robin"] * SWITCHES
        took_s = [switch_s(pool, page, policy) for policy in policies]
    assert median(took_s) <= 0.2


def test_the_pool_works_for_the_executor(spark: SparkSession, pool: control.RunningPool) -> None:
    """Not for the Python worker that happened to start it: see `test_pool` for its end."""
    gateway: Any = spark.sparkContext._gateway
    executor = Process.of(gateway.proc.pid)
    assert executor is not None
    owners = [path.name for path in Path(pool.where, "owners").iterdir()]
    assert owners == [f"{executor.pid}-{executor.started}"]

"""What only several hosts show: who sends to whom, copies, lost places, executors that die."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from collectors.formats.wire import WINDOW_MS
from collectors.process.events.task_messages import (
    ExecutorChange,
    Stage,
    TaskRecord,
    Traffic,
    decode_executor,
)
from collectors.process.link import MessageKind
from dashboard.testing.cluster import HOST_VARIABLE, Cluster, cluster
from tests.collectors.conftest import SHORT_LIVED
from tests.collectors.task_recorder import TaskRecorder, watched_session, whole
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

BATCHES = 4
NEVER = "1000000"
SLOW_MS = 60_000
ROWS = 20_000
WHERE = f"reflect('java.lang.System', 'getenv', '{HOST_VARIABLE}')"


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Cluster]:
    with cluster(workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> TaskRecorder:
    return TaskRecorder(tmp_path_factory.mktemp("traffic"))


@pytest.fixture(scope="module")
def watched(kept: TaskRecorder, two_hosts: Cluster) -> Iterator[SparkSession]:
    options = {
        **two_hosts.spark_options,
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.extraJavaOptions": SHORT_LIVED,
        # Looked at only when a session starts; what makes a task slow enough is said later.
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.multiplier": NEVER,
    }
    with watched_session(kept, **options) as session:
        yield session


@contextmanager
def setting(spark: SparkSession, option: str, value: str, otherwise: str) -> Iterator[None]:
    """Of the scheduler, which reads it anew for every stage."""
    context: Any = spark.sparkContext._jsc.sc()
    context.conf().set(option, value)
    try:
        yield
    finally:
        context.conf().set(option, otherwise)


def ticks(spark: SparkSession) -> DataFrame:
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS)
        .option("numPartitions", 3)
        .load()
        .withColumn("key", F.col("value") % 1000)
        .withColumn("payload", F.sha2(F.col("value").cast("string"), 512))
    )


def bytes_by(tasks: list[TaskRecord], amount: str) -> Counter[str]:
    found = Counter[str]()
    for task in tasks:
        found[task.executor_id] += getattr(task, amount)
    return +found


def rows_and_columns(traffic: Traffic) -> tuple[Counter[str], Counter[str]]:
    rows, columns = Counter[str](), Counter[str]()
    for flow in traffic.flows:
        rows[flow.from_executor] += flow.shuffle_bytes
        columns[flow.to_executor] += flow.shuffle_bytes
    return rows, columns


def of_batch(tasks: list[TaskRecord], traffic: Traffic) -> list[TaskRecord]:
    return [t for t in tasks if t.ended and t.stage.batch_id == traffic.stage.batch_id]


def test_the_matrix_agrees_with_what_each_executor_wrote_and_read(
    watched: SparkSession, kept: TaskRecorder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    query = (
        ticks(watched)
        .groupBy("key")
        .agg(F.max("payload"))
        .writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(tmp_path_factory.mktemp("state")))
        .start()
    )
    until(lambda: len(whole(query)) > BATCHES, timeout_s=120)
    query.stop()
    kept.until_over(query)

    def told() -> list[Traffic]:
        return [each for each in kept.traffic(query) if each.stage.batch_id in whole(query)]

    until(lambda: len(told()) == len(whole(query)))
    matrices = told()
    for traffic in matrices:
        tasks = of_batch(kept.tasks(query), traffic)
        rows, columns = rows_and_columns(traffic)
        assert traffic.measured
        # Spark rounds the sizes of map outputs up by as much as a tenth.
        for matrix, spark_says in (
            (rows, bytes_by(tasks, "shuffle_bytes_written")),
            (columns, bytes_by(tasks, "shuffle_bytes_read")),
        ):
            assert matrix.keys() == spark_says.keys()
            for executor_id, exact in spark_says.items():
                assert exact <= matrix[executor_id] <= 1.1 * exact + 1
    assert any(len(traffic.flows) == 4 for traffic in matrices)


def test_where_partitions_were_joined_the_bytes_are_shared_out_and_that_is_said(
    watched: SparkSession, kept: TaskRecorder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def counted(rows: DataFrame, _: int) -> None:
        # A plain query within a batch is adaptive: one task reads all four partitions.
        rows.groupBy("key").agg(F.max("payload")).write.format("noop").mode("append").save()

    query = (
        ticks(watched)
        .writeStream.foreachBatch(counted)
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path_factory.mktemp("adaptive")))
        .start()
    )
    assert query.awaitTermination(120)
    kept.until_over(query)
    matrices = until(lambda: kept.traffic(query))
    assert not any(traffic.measured for traffic in matrices)
    for traffic in matrices:
        read = bytes_by(of_batch(kept.tasks(query), traffic), "shuffle_bytes_read")
        _, columns = rows_and_columns(traffic)
        assert columns.keys() == read.keys()
        assert all(abs(columns[at] - read[at]) <= len(traffic.flows) for at in read)


def sleep(ms: int) -> str:
    return f"reflect('java.lang.Thread', 'sleep', {ms}L)"


def tasks_of_spark(spark: SparkSession, stages: set[Stage]) -> dict[int, Any]:
    """What Spark's own status store knows, by task id."""
    store = spark.sparkContext._jsc.sc().statusStore()
    lists = [store.taskList(stage.stage_id, stage.attempt, 1000) for stage in stages]
    found = [tasks.apply(at) for tasks in lists for at in range(tasks.size())]
    return {task.taskId(): task for task in found}


def test_a_copy_of_a_slow_task_is_told_and_who_lost_was_killed(
    watched: SparkSession,
    kept: TaskRecorder,
    two_hosts: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    slow = F.expr(f"IF({WHERE} = '{two_hosts.workers[0].host}', {sleep(SLOW_MS)}, '')")
    with setting(watched, "spark.speculation.multiplier", "1.5", otherwise=NEVER):
        began_s = time.monotonic()
        query = (
            ticks(watched)
            .select("value", slow)
            .writeStream.format("noop")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path_factory.mktemp("copies")))
            .start()
        )
        assert query.awaitTermination(120)
        assert time.monotonic() - began_s < SLOW_MS / 1000
    kept.until_over(query)
    tasks = [record for record in kept.tasks(query) if record.ended]
    spark_says = tasks_of_spark(watched, {record.stage for record in tasks})
    assert {t.task_id for t in tasks if t.speculative} == {
        task_id for task_id, told in spark_says.items() if told.speculative()
    }
    (copy,) = (record for record in tasks if record.speculative)
    (slow_one,) = (t for t in tasks if t.partition == copy.partition and not t.speculative)
    assert (copy.successful, slow_one.successful, slow_one.killed) == (True, False, True)
    assert spark_says[slow_one.task_id].status() == "KILLED"
    # Of copies there was one at a time; who lost a race has not failed.
    counts = [frame.tasks for frame in kept.frames(query)]
    assert max(each.speculative for each in counts) == 1
    assert sum(each.finished for each in counts) == len(tasks)
    assert sum(each.failed for each in counts) == 0


def test_tasks_that_ran_elsewhere_than_they_would_like_are_counted(
    watched: SparkSession,
    kept: TaskRecorder,
    two_hosts: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # After the first batch the state has its places. Then one host is slow, then the other: one of
    # them has more than one partition, and before long the other does not wait for it.
    turn = f"CAST(max(value) / {ROWS} AS INT)"
    one, other = (worker.host for worker in two_hosts.workers)
    slow = F.expr(
        f"IF(key < 20 AND turn > 0 AND {WHERE} = IF(turn % 2 = 0, '{one}', '{other}'), "
        f"{sleep(20)}, '')"
    )
    with setting(watched, "spark.locality.wait", "0s", otherwise="3s"):
        query = (
            ticks(watched)
            .groupBy("key")
            .agg(F.expr(turn).alias("turn"))
            .withColumn("slow", slow)
            .writeStream.outputMode("update")
            .format("noop")
            .option("checkpointLocation", str(tmp_path_factory.mktemp("places")))
            .start()
        )
        until(lambda: any(t.missed_its_place for t in kept.tasks(query)), 120, every_s=0.2)
        query.stop()
    kept.until_over(query)
    tasks = [record for record in kept.tasks(query) if record.ended]
    spark_says = tasks_of_spark(watched, {record.stage for record in tasks})
    elsewhere = {id for id, told in spark_says.items() if told.taskLocality() == "ANY"}
    assert {record.task_id for record in tasks if record.missed_its_place} == elsewhere
    misses = [frame.tasks.locality_misses for frame in kept.frames(query)]
    assert sum(misses) == len(elsewhere) > 0


def changes(kept: TaskRecorder) -> list[ExecutorChange]:
    return [decode_executor(message.payload) for message in kept.messages(MessageKind.EXECUTORS)]


def decommission(spark: SparkSession, executor_id: str) -> None:
    """As a cluster manager asks Spark to. The executor itself stays: without
    `spark.decommission.enabled` it takes no notice."""
    jvm: Any = spark.sparkContext._jvm
    no_host = jvm.scala.Option.empty()
    why = jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("asked to", no_host)
    backend = spark.sparkContext._jsc.sc().schedulerBackend()
    assert backend.decommissionExecutor(executor_id, why, False, False)


def test_an_executor_that_spark_decommissions_is_leaving(
    watched: SparkSession,
    kept: TaskRecorder,
    two_hosts: Cluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    stays, goes = sorted(two_hosts.executors())
    query = (
        ticks(watched)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path_factory.mktemp("leaving")))
        .start()
    )
    until(lambda: whole(query), timeout_s=120)
    decommission(watched, goes)
    (change,) = until(lambda: [c for c in changes(kept) if c.leaving], timeout_s=60)
    assert (change.executor_id, change.joined, change.cores) == (goes, True, 1)
    until_ms = change.time_ms + 3_000
    until(lambda: max(part.window for part in kept.parts()) * WINDOW_MS > until_ms, timeout_s=60)
    query.stop()
    kept.until_over(query)
    # The driver gives no cores to tasks.
    seen = {each.id: each for each in kept.view(query, until_ms).executors}
    assert {(each.id, each.cores, each.leaving) for each in seen.values()} == {
        (stays, 1, False),
        (goes, 1, True),
        ("driver", None, False),
    }
    assert {each.left_ms for each in seen.values()} == {None}


def test_executors_are_told_when_they_join_and_when_they_die(
    watched: SparkSession, kept: TaskRecorder, two_hosts: Cluster
) -> None:
    assert {c.host for c in changes(kept) if c.joined} == {"127.0.0.2", "127.0.0.3"}
    killed, pid = sorted(two_hosts.executors().items())[0]
    os.kill(pid, signal.SIGKILL)
    died = until(lambda: [c for c in changes(kept) if not c.joined], timeout_s=60)
    assert [change.executor_id for change in died] == [killed]
    assert died[0].reason

"""The traffic matrix and the coming and going of executors, on two hosts."""

import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from collectors.link import Kind
from collectors.tasks import ExecutorChange, TaskRecord, Traffic, decode_executor
from dashboard.testing.cluster import Cluster, cluster
from tests.collectors.keeping import Kept, watched_session, whole
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

BATCHES = 4


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Cluster]:
    with cluster(workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("traffic"))


@pytest.fixture(scope="module")
def watched(kept: Kept, two_hosts: Cluster) -> Iterator[SparkSession]:
    options = {**two_hosts.spark_options, "spark.sql.shuffle.partitions": "4"}
    with watched_session(kept, **options) as session:
        yield session


def ticks(spark: SparkSession) -> DataFrame:
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 20_000)
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
    watched: SparkSession, kept: Kept, tmp_path_factory: pytest.TempPathFactory
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
    watched: SparkSession, kept: Kept, tmp_path_factory: pytest.TempPathFactory
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


def test_executors_are_told_when_they_join_and_when_they_die(
    watched: SparkSession, kept: Kept, two_hosts: Cluster
) -> None:
    def changes() -> list[ExecutorChange]:
        return [decode_executor(message.payload) for message in kept.messages(Kind.EXECUTORS)]

    assert {c.host for c in changes() if c.joined} == {"127.0.0.2", "127.0.0.3"}
    killed, pid = sorted(two_hosts.executors().items())[0]
    os.kill(pid, signal.SIGKILL)
    died = until(lambda: [c for c in changes() if not c.joined], timeout_s=60)
    assert [change.executor_id for change in died] == [killed]
    assert died[0].reason

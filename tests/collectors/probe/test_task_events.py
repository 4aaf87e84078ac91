"""What the listener tells of a real Spark's tasks, against Spark's own numbers."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors.formats.wire import WINDOW_MS
from collectors.process.events.batch_phases import phases
from collectors.process.events.progress import parse
from collectors.process.events.scheduling import Scheduling
from collectors.process.events.task_messages import Stage, StageWait, decode_executor, decode_tasks
from collectors.process.link import MessageKind
from tests.collectors.conftest import probe
from tests.collectors.process.test_scheduling import (
    EXECUTORS_GOLDEN,
    QUERY,
    RUN,
    TASKS_GOLDEN,
    TRAFFIC_GOLDEN,
)
from tests.collectors.task_recorder import TaskRecorder, ended_ids, watched_session, whole
from tests.waiting import until

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> TaskRecorder:
    return TaskRecorder(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another session of this JVM, with stages of the same ids: one in each batch."""
    folder = tmp_path_factory.mktemp("earlier")
    with watched_session(TaskRecorder(folder)) as session:
        query = (
            ticks(session)
            .writeStream.format("noop")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)


@pytest.fixture(scope="module")
def watched(kept: TaskRecorder, earlier: None) -> Iterator[SparkSession]:
    with watched_session(kept, **{"spark.sql.shuffle.partitions": "5"}) as session:
        yield session


@pytest.fixture(scope="module")
def counted(
    watched: SparkSession, tmp_path_factory: pytest.TempPathFactory, kept: TaskRecorder
) -> StreamingQuery:
    """A stateful query with a shuffle, over after a few batches."""
    query = (
        ticks(watched)
        .groupBy((F.col("value") % 1000).alias("key"))
        .agg(F.count("*"), F.max("payload"))
        .writeStream.queryName("counted")
        .outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(tmp_path_factory.mktemp("counted")))
        .trigger(processingTime="300 milliseconds")
        .start()
    )
    until(lambda: len(whole(query)) > 4, timeout_s=120)
    query.stop()
    kept.until_over(query)
    return query


def ticks(spark: SparkSession) -> DataFrame:
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 20_000)
        .option("numPartitions", 3)
        .load()
        .withColumn("payload", F.sha2(F.col("value").cast("string"), 512))
    )


def stage_data(spark: SparkSession, wait: StageWait) -> Any:
    """What Spark's own status store knows of a stage."""
    gateway: Any = spark.sparkContext._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    no_statuses = gateway.jvm.java.util.ArrayList()
    store = spark.sparkContext._jsc.sc().statusStore()
    stage, attempt = wait.stage.stage_id, wait.stage.attempt
    return store.stageAttempt(stage, attempt, False, no_statuses, False, quantiles)._1()


def test_the_probe_writes_the_golden_messages(watched: SparkSession) -> None:
    scala = probe(watched).TaskMessage
    assert bytes(scala.sampleTasks(QUERY, RUN)).hex() == TASKS_GOLDEN.hex()
    assert [bytes(each) for each in scala.sampleExecutors()] == list(EXECUTORS_GOLDEN)
    assert bytes(scala.sampleTraffic(QUERY, RUN)).hex() == TRAFFIC_GOLDEN.hex()


def test_every_task_is_told_once_when_it_begins_and_once_when_it_ends(
    counted: StreamingQuery, kept: TaskRecorder
) -> None:
    tasks = kept.tasks(counted)
    assert set(Counter((r.task_id, r.ended) for r in tasks).values()) == {1}
    assert {r.stage.run_id for r in tasks} == {counted.runId}
    # Three that read and five that count, in each batch.
    began, ended = (Counter(r.stage.batch_id for r in tasks if r.ended is e) for e in (False, True))
    assert began == ended
    assert [ended[batch] for batch in whole(counted)] == [8] * len(whole(counted))
    assert not any(decode_tasks(m.payload).lost_events for m in kept.messages(MessageKind.TASKS))


def test_the_numbers_of_a_stage_are_those_of_sparks_status_store(
    watched: SparkSession, counted: StreamingQuery, kept: TaskRecorder
) -> None:
    tasks = [record for record in kept.tasks(counted) if record.ended]
    stages = {s.stage: s for s in kept.stages(counted) if s.stage.batch_id in whole(counted)}
    for stage, wait in stages.items():
        of_stage = [record for record in tasks if record.stage == stage]
        spark_says = stage_data(watched, wait)
        assert len(of_stage) == wait.tasks == spark_says.numCompleteTasks()
        assert sum(r.run_ms for r in of_stage) == spark_says.executorRunTime()
        assert sum(r.shuffle_bytes_read for r in of_stage) == spark_says.shuffleReadBytes()
        assert sum(r.shuffle_bytes_written for r in of_stage) == spark_says.shuffleWriteBytes()
        assert all(0 <= r.run_ms <= r.finish_ms - r.launch_ms for r in of_stage)


def test_the_same_stage_of_every_batch_has_the_same_kind(
    counted: StreamingQuery, kept: TaskRecorder
) -> None:
    stages = {s.stage: s for s in kept.stages(counted) if s.stage.batch_id in whole(counted)}
    reads = {s for s, wait in stages.items() if wait.tasks == 3}
    counts = {s for s, wait in stages.items() if wait.tasks == 5}
    assert len(reads) == len(counts) == len(whole(counted))
    assert {(s.kind, s.stateful, s.result) for s in reads} == {(0, False, False)}
    assert {(s.kind, s.stateful, s.result) for s in counts} == {(1, True, True)}


def test_a_task_waited_from_sparks_submission_of_its_stage_to_its_launch(
    watched: SparkSession, counted: StreamingQuery, kept: TaskRecorder
) -> None:
    stages = {s.stage: s for s in kept.stages(counted) if s.stage.batch_id in whole(counted)}
    for stage, wait in stages.items():
        submitted_ms = stage_data(watched, wait).submissionTime().get().getTime()
        of_stage = [record for record in kept.tasks(counted) if record.stage == stage]
        assert all(r.waited_ms == r.launch_ms - submitted_ms for r in of_stage)
    # Eight tasks on two slots: some wait.
    assert max(record.waited_ms for record in kept.tasks(counted)) > 0


def test_a_view_has_the_kinds_and_the_waits_of_real_tasks(
    counted: StreamingQuery, kept: TaskRecorder
) -> None:
    records = [record for record in kept.tasks(counted) if record.ended]
    tasks = kept.view(counted).tasks
    columns = (tasks.partition, tasks.kind, tasks.waited_ms, tasks.stateful, tasks.result)
    assert Counter(zip(*(column.tolist() for column in columns), strict=True)) == Counter(
        (r.partition, r.stage.kind, r.waited_ms, r.stage.stateful, r.stage.result) for r in records
    )


def test_a_stage_of_no_streaming_query_has_no_kind(
    watched: SparkSession, kept: TaskRecorder
) -> None:
    watched.range(0, 10, 1, 1).groupBy("id").count().write.format("noop").mode("append").save()
    kept.until_over(None)
    plain = {wait.stage for wait in kept.stages(None)}
    assert {(s.kind, s.stateful, s.result) for s in plain} == {(None, False, False)}


def test_the_matrix_holds_the_bytes_that_the_stage_fetched(
    counted: StreamingQuery, kept: TaskRecorder
) -> None:
    tasks = [record for record in kept.tasks(counted) if record.ended]
    read = Counter[Stage]()
    for record in tasks:
        read[record.stage] += record.shuffle_bytes_read * record.successful
    until(lambda: {traffic.stage for traffic in kept.traffic(counted)} == set(+read))
    for traffic in kept.traffic(counted):
        (flow,) = traffic.flows
        assert (flow.from_executor, flow.to_executor) == ("driver", "driver")
        assert traffic.measured
        # Spark rounds the sizes of map outputs up by as much as a tenth.
        assert read[traffic.stage] <= flow.shuffle_bytes <= 1.1 * read[traffic.stage] + 1


def test_the_tasks_of_a_batch_run_within_its_add_batch(
    counted: StreamingQuery, kept: TaskRecorder
) -> None:
    parsed = (parse(message.payload) for message in kept.messages(MessageKind.QUERY_PROGRESS))
    batches = {p.batch.batch_id: p.batch for p in parsed if p.batch and p.query_id == counted.id}
    assert set(whole(counted)) <= batches.keys()
    for record in kept.tasks(counted):
        if not record.ended or record.stage.batch_id not in batches:
            continue
        batch = batches[record.stage.batch_id]
        (add,) = (phase for phase in phases(batch) if phase.name == "addBatch")
        assert add.start_us <= record.launch_ms * 1000
        # A phase may begin later than drawn by what no phase accounts for.
        unaccounted_ms = batch.duration_ms - sum(batch.phases_ms)
        assert record.finish_ms * 1000 <= add.end_us + unaccounted_ms * 1000


def test_the_windows_of_a_real_query_add_up(counted: StreamingQuery, kept: TaskRecorder) -> None:
    tasks = [record for record in kept.tasks(counted) if record.ended]
    made = Scheduling()
    for message in kept.messages(MessageKind.TASKS):
        made.add_tasks(decode_tasks(message.payload))
    first = min(record.launch_ms for record in tasks) // WINDOW_MS
    last = max(record.finish_ms for record in tasks) // WINDOW_MS
    windows = [made.close(window).of(counted.id) for window in range(first, last + 1)]
    assert sum(window.finished for window in windows) == len(tasks)
    # Spark may launch a slot's next task before it has read the last one's result.
    assert max(running.tasks for window in windows for running in window.running) >= 2
    # Eight tasks on two slots: some wait.
    assert sum(waiting.waited_ms for window in windows for waiting in window.waiting) > 0


def test_a_task_that_fails_is_told_as_failed(watched: SparkSession, kept: TaskRecorder) -> None:
    def break_(rows: Iterable[int]) -> Iterable[int]:
        raise RuntimeError("on purpose")

    before = len(kept.tasks(None))
    with pytest.raises(Exception, match="on purpose"):
        watched.sparkContext.parallelize(range(4), 1).mapPartitions(break_).count()
    kept.until_over(None)
    (record,) = (record for record in kept.tasks(None)[before:] if record.ended)
    assert not record.successful
    assert not record.killed


def test_the_executor_is_told(watched: SparkSession, kept: TaskRecorder) -> None:
    (change,) = (
        decode_executor(message.payload) for message in kept.messages(MessageKind.EXECUTORS)
    )
    assert (change.executor_id, change.joined, change.cores) == ("driver", True, 2)
    assert not change.leaving


def test_thousands_of_tasks_are_told_at_a_few_microseconds_each(
    watched: SparkSession, kept: TaskRecorder
) -> None:
    before = len(ended_ids(kept.tasks(None)))
    for _ in range(5):
        watched.range(0, 1000, 1, 1000).write.format("noop").mode("append").save()
    until(lambda: len(ended_ids(kept.tasks(None))) == before + 5000, timeout_s=60, every_s=0.5)
    spent = listener_timer(watched)
    assert spent.getCount() > 10_000
    # Alone it takes less than 2 µs; here the tests' own Spark and others want the same cores.
    assert spent.getSnapshot().getMedian() < 50_000


def listener_timer(spark: SparkSession) -> Any:
    """Spark times the listeners on its bus; nanoseconds."""
    metrics = spark.sparkContext._jsc.sc().listenerBus().metrics()
    return metrics.metricRegistry().getTimers().get("queue.curtail.listenerProcessingTime")

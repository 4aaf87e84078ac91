"""A real query on a real Spark, seen through a real Redis."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from redis import Redis

from collectors import stamp
from collectors.formats import keys
from collectors.formats.announcement import Announcement, from_hash
from collectors.formats.wire import WINDOW_MS, Batch, Frame
from collectors.process.events.progress import parse
from dashboard.prometheus import exposition
from dashboard.series.windows import QUANTILES
from dashboard.testing.stack import RedisServer
from tests.collectors.conftest import probe, spark_session
from tests.collectors.frames import arrived, arrived_when, committed, latency
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.quiet]

ROWS = 3_000


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    """One that gives a failed task another try, which Spark's local mode does when asked to."""
    with spark_session(module_redis.url, **{"spark.master": "local[2,3]"}) as session:
        yield session


def ticks(spark: SparkSession, rows_per_batch: int = ROWS) -> DataFrame:
    """Batches of a known size, of events that happened 300 ms ago."""
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows_per_batch)
        .option("numPartitions", 2)
        .load()
        .select(
            "value", (F.current_timestamp() - F.expr("INTERVAL 0.3 SECOND")).alias("event_time")
        )
    )


def announced(server: RedisServer, job_id: str, run_id: str | None = None) -> Any:
    """What the job says of itself, or of this run; nothing as long as it does not."""
    values: Any = Redis.from_url(server.url).hgetall(keys.job(job_id))
    told = from_hash(values) if values else None
    return told if told and run_id in (None, told.run_id) else None


def batches_done(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return progress.batchId if progress else 0


def rows(frames: list[Frame]) -> int:
    return sum(batch.rows_in for frame in frames for batch in frame.batches)


def batches(query: StreamingQuery) -> dict[int, Batch]:
    """Those that Spark says were committed."""
    told = (parse(progress.json.encode()).batch for progress in query.recentProgress)
    return {batch.batch_id: batch for batch in told if batch}


def test_every_stamped_record_is_counted_once(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    ago = F.expr("make_interval(0, 0, 0, 0, 0, 0, 0.3 + (value % 1000) / 1000)")
    query = (
        ticks(spark)
        .where("value % 3 != 0")
        .withColumn("event_time", F.current_timestamp() - ago)
        .transform(stamp("event_time"))
        .writeStream.queryName("counted")
        .format("memory")
        .option("checkpointLocation", checkpoint("counted"))
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    until(lambda: batches_done(query) >= 6, timeout_s=60)
    query.stop()
    done = batches(query)
    rows_in = sum(batch.rows_in for batch in done.values())
    frames = arrived_when(module_redis, "tests.counted", lambda seen: rows(seen) >= rows_in)
    # A batch that `stop` cut in the middle counted some records and reported no progress.
    # A JVM that has just started may be late with what it counted first: then that is said.
    late = frames[-1].health.lost_records
    assert late <= ROWS
    assert 0 <= latency(frames).count + late - rows_in * 2 // 3 <= ROWS * 2 // 3
    assert rows(frames) == rows_in
    shortest_us = latency(frames).quantiles_us([0.0])[0]
    assert shortest_us is not None
    assert shortest_us >= 300_000 * 0.99
    told = announced_finally(module_redis, "tests.counted", rows_in)
    assert_pulse_agrees(module_redis, told)

    # The sink holds each record's event time, and Spark says when its batch was committed.
    written = spark.table("counted").select("value", F.unix_micros("event_time")).collect()
    took_us = [
        done[value // ROWS].end_ms * 1000 - event_us
        for value, event_us in written
        if value // ROWS in done
    ]
    assert committed(frames).count == len(took_us) == rows_in * 2 // 3
    ours = np.array(committed(frames).quantiles_us(QUANTILES.values()), dtype=float)
    theirs = np.quantile(took_us, list(QUANTILES.values()), method="inverted_cdf")
    np.testing.assert_allclose(ours, theirs, rtol=0.01)
    processed = np.array(latency(frames).quantiles_us(QUANTILES.values()), dtype=float)
    assert (ours > processed * 0.99).all()


def announced_finally(server: RedisServer, job_id: str, rows_in: int) -> Announcement:
    """The last word on a run, with the batch in its last window."""

    def look() -> Announcement | None:
        told: Announcement | None = announced(server, job_id)
        done = told and told.ended_ms and told.pulse and told.pulse.rows_in == rows_in
        return told if done else None

    told = until(look)
    assert told
    return told


def assert_pulse_agrees(server: RedisServer, told: Announcement) -> None:
    pulse = told.pulse
    assert pulse
    # The last frames are sent with these words, and come a moment after them.
    frames = arrived_when(
        server,
        told.job_id,
        lambda seen: (
            latency(seen).count >= pulse.processed.count and len(seen) >= pulse.load.shipped_frames
        ),
    )
    text = exposition([told], {}, {}, told.heartbeat_ms).decode()
    scraped = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    batches = [batch for frame in frames for batch in frame.batches]
    assert scraped["curtail_rows_total"] == sum(batch.rows_in for batch in batches)
    assert scraped["curtail_batches_total"] == len(batches)
    assert scraped["curtail_batch_duration_seconds_count"] == len(batches)
    assert scraped["curtail_record_latency_seconds_count"] == latency(frames).count
    assert 0 < scraped["curtail_collector_frames_shipped_total"] <= len(frames)
    assert 0 < scraped["curtail_collector_cpu_seconds_total"] < 60


def test_what_is_sent_to_the_driver_and_is_no_part_is_counted(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    query = (
        ticks(spark, 1)
        .writeStream.queryName("foreign")
        .format("noop")
        .option("checkpointLocation", checkpoint("foreign"))
        .start()
    )
    before = arrived_when(module_redis, "tests.foreign", bool)[-1].health.unreadable_messages
    driver = probe(spark).Plugin().driverPlugin()
    for message in ("a text", 7, None):
        assert len(driver.receive(message)) == 16  # clock and edition, as for every part
    arrived_when(
        module_redis,
        "tests.foreign",
        lambda seen: seen[-1].health.unreadable_messages == before + 3,
    )
    query.stop()


def test_a_queue_drops_its_oldest_when_it_holds_too_many_items_or_bytes(
    spark: SparkSession,
) -> None:
    queue = probe(spark).DroppingQueue.ofBytes(4, 100)
    for number in range(6):
        queue.offer(bytearray([number]))
    assert (drained(queue), queue.dropped()) == ([b"\x02", b"\x03", b"\x04", b"\x05"], 2)
    for number in range(3):
        queue.offer(bytearray([number] * 40))
    assert (drained(queue), queue.dropped()) == ([b"\x01" * 40, b"\x02" * 40], 3)
    # Room that was taken is given back, and what fits into no room at all is not kept.
    queue.offer(bytearray(101))
    queue.offer(bytearray(100))
    assert (drained(queue), queue.dropped()) == ([bytes(100)], 4)


def drained(queue: Any) -> list[bytes]:
    found = []
    while (item := queue.poll(0)).isDefined():
        found.append(bytes(item.get()))
    return found


def test_a_task_that_failed_and_was_tried_again_is_committed_once(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    # The first to set a property of the JVM is told that there was none.
    tried = checkpoint("tried")
    first = f"reflect('java.lang.System', 'setProperty', '{tried}', 'yes') IS NULL"
    stumbling = F.expr(
        f"CASE WHEN value = 190 AND {first} THEN raise_error('not at the first try') ELSE value END"
    )
    query = (
        ticks(spark, 100)
        .transform(stamp("event_time"))
        .withColumn("value", stumbling)
        .writeStream.queryName("retried")
        .format("memory")
        .option("checkpointLocation", checkpoint("retried"))
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    until(lambda: batches_done(query) >= 3, timeout_s=60)
    query.stop()
    done = batches(query)
    rows_in = sum(batch.rows_in for batch in done.values())
    frames = arrived_when(module_redis, "tests.retried", lambda seen: rows(seen) >= rows_in)
    jvm: Any = spark.sparkContext._jvm
    written = [row.value for row in spark.table("retried").collect() if row.value // 100 in done]
    assert jvm.java.lang.System.getProperty(tried) == "yes"
    assert committed(frames).count == len(written) == rows_in


def test_a_batch_query_counts_nothing_and_loses_nothing(spark: SparkSession) -> None:
    events = spark.range(2_000_000).withColumn("event_time", F.current_timestamp())
    writer = events.transform(stamp("event_time")).write.format("noop").mode("overwrite")
    lost = probe(spark).Recorder.lost()
    began_s = time.monotonic()
    while time.monotonic() - began_s < 1:  # longer than a recorder remembers
        writer.save()
    assert probe(spark).Recorder.lost() == lost


def test_tasks_that_find_no_room_on_an_executor_are_counted_record_by_record(
    spark: SparkSession,
) -> None:
    gateway: Any = spark.sparkContext._gateway
    buckets, counts = (gateway.new_array(gateway.jvm.int, 2) for _ in range(2))
    counts[0], counts[1] = 40, 2
    task = probe(spark).TaskLatencies("query", 7, 3, 0, 0, 0, probe(spark).Filled(buckets, counts))
    lost = probe(spark).Recorder.lost()
    waiting = probe(spark).FinishedTasks(2)
    for _ in range(5):
        waiting.offer(task)
    assert waiting.drain(10).size() == 2
    assert probe(spark).Recorder.lost() == lost + 3 * 42


def test_frames_follow_each_other_every_50_ms_and_carry_the_hosts_cpu(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    query = (
        ticks(spark, 10)
        .writeStream.queryName("steady")
        .format("noop")
        .option("checkpointLocation", checkpoint("steady"))
        .trigger(processingTime="500 milliseconds")
        .start()
    )
    frames = arrived_when(module_redis, "tests.steady", lambda seen: len(seen) >= 80)
    query.stop()
    assert np.diff([frame.window for frame in frames]).tolist() == [1] * (len(frames) - 1)
    assert [frame.sequence for frame in frames] == list(range(len(frames)))
    shares = [sample.metrics.get(1) for frame in frames for sample in frame.executors]
    assert len(shares) >= 0.9 * len(frames)
    known = [share for share in shares if share is not None]
    assert len(known) >= 0.5 * len(shares)
    assert all(0 <= share <= 1000 for share in known)
    assert latency(frames).count == 0  # nothing was stamped


def test_a_query_announces_its_start_and_its_end(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    writer = (
        ticks(spark, 1)
        .writeStream.queryName("Told")
        .format("noop")
        .option("checkpointLocation", checkpoint("told"))
    )
    query = writer.start()
    first = until(lambda: announced(module_redis, "tests.told", str(query.runId)))
    assert first.run_id == str(query.runId)
    assert first.application_id == spark.sparkContext.applicationId
    assert first.spark_version == spark.version
    query.stop()
    until(lambda: announced(module_redis, "tests.told").ended_ms)
    again = writer.start()
    second = until(lambda: announced(module_redis, "tests.told", str(again.runId)))
    assert second.ended_ms == 0
    assert second.job_id == first.job_id
    again.stop()


def test_a_killed_collector_comes_back_and_the_query_does_not_notice(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    query = (
        ticks(spark, 10)
        .writeStream.queryName("survivor")
        .format("noop")
        .option("checkpointLocation", checkpoint("survivor"))
        .trigger(processingTime="200 milliseconds")
        .start()
    )
    until(lambda: arrived(module_redis, "tests.survivor"), timeout_s=60)
    first = probe(spark).CollectorProcess.pid()
    os.kill(first, signal.SIGKILL)
    until(lambda: probe(spark).CollectorProcess.pid() not in (-1, first), timeout_s=60)
    window = arrived(module_redis, "tests.survivor")[-1].window + 1_000 // WINDOW_MS
    arrived_when(module_redis, "tests.survivor", lambda seen: seen[-1].window > window)
    assert query.isActive
    assert query.exception() is None
    query.stop()


def test_a_dropped_column_takes_its_count_with_it_and_the_query_runs(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    query = (
        ticks(spark, 10)
        .transform(stamp("event_time"))
        .drop("event_time")
        .writeStream.queryName("dropped")
        .format("noop")
        .option("checkpointLocation", checkpoint("dropped"))
        .start()
    )
    until(lambda: batches_done(query) >= 2, timeout_s=60)
    query.stop()
    assert query.exception() is None
    assert latency(arrived(module_redis, "tests.dropped")).count == 0


def test_stamp_says_what_is_wrong_with_a_column(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id", "current_timestamp() AS event_time")
    with pytest.raises(ValueError, match="no such column; there are id, event_time"):
        frame.transform(stamp("time"))
    with pytest.raises(ValueError, match="a timestamp is needed, this is bigint"):
        frame.transform(stamp("id"))


def test_stamp_passes_values_on_unchanged_nulls_and_odd_names_included(
    spark: SparkSession,
) -> None:
    frame = spark.sql(
        "SELECT TIMESTAMP '2026-01-01 00:00:00.123456' AS `event ``time`, 1 AS `a.b`"
        " UNION ALL SELECT NULL, 2"
    )
    stamped = frame.transform(stamp("event `time"))
    assert stamped.columns == frame.columns
    assert sorted(map(str, stamped.collect())) == sorted(map(str, frame.collect()))

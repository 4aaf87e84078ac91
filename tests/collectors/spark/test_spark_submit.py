"""A job that knows nothing of Curtail, seen through the options of `curtail conf`."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from collectors.formats.wire import Batch, Frame
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER, spark_submit_options
from dashboard.testing.stack import RedisServer
from tests.collectors.conftest import SHORT_LIVED
from tests.collectors.frames import arrived_when

pytestmark = [pytest.mark.spark, pytest.mark.own_jvm]

BATCHES, ROWS = 8, 100

JOB = f"""
import sys, time
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("plain").getOrCreate()
query = (
    spark.readStream.format("rate-micro-batch")
    .option("rowsPerBatch", {ROWS})
    .load()
    .groupBy("value")
    .count()
    .writeStream.queryName("untouched")
    .outputMode("update")
    .format("noop")
    .option("checkpointLocation", sys.argv[1])
    .trigger(processingTime="100 milliseconds")
    .start()
)
while not query.lastProgress or query.lastProgress.batchId < {BATCHES}:
    time.sleep(0.1)
query.stop()
spark.stop()
"""


def batches(frames: list[Frame]) -> list[Batch]:
    return [batch for frame in frames for batch in frame.batches]


def test_an_unchanged_job_is_collected_but_for_its_records(
    redis: RedisServer, tmp_path: Path
) -> None:
    script = tmp_path / "job.py"
    script.write_text(JOB)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    done = subprocess.run(
        [
            str(submit),
            *spark_submit_options(redis.url, "nightly"),
            *("--master", "local[2]", "--driver-java-options", SHORT_LIVED),
            *("--conf", "spark.ui.enabled=false"),
            *("--conf", "spark.sql.shuffle.partitions=2"),
            *(
                "--conf",
                f"spark.sql.streaming.checkpointFileManagerClass={CHECKPOINT_FILE_MANAGER}",
            ),
            str(script),
            str(tmp_path / "checkpoint"),
        ],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    # The collector sends the last of it when the job has ended.
    frames = arrived_when(redis, "nightly.untouched", lambda seen: len(batches(seen)) >= BATCHES)
    assert {batch.batch_id for batch in batches(frames)} >= set(range(BATCHES))
    assert all(batch.rows_in == ROWS for batch in batches(frames))
    assert any(frame.executors for frame in frames)
    assert sum(frame.tasks.finished for frame in frames) > 0
    assert not any(frame.stamped for frame in frames)

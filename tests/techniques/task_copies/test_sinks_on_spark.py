"""What a running Spark calls its sinks, and whether they are known by that."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from techniques.task_copies import sinks

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    made = (
        SparkSession.Builder()
        .master("local[1]")
        .appName("sinks")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def ignore(row: Row) -> None:
    pass


def ignore_batch(batch: DataFrame, number: int) -> None:
    pass


To = Callable[[DataStreamWriter, Path], DataStreamWriter]
SINKS: dict[str, tuple[To, str, bool]] = {
    "noop": (lambda to, _: to.format("noop"), "NoopTable", True),
    "console": (lambda to, _: to.format("console"), "ConsoleTable", True),
    "memory": (lambda to, _: to.format("memory").queryName("kept"), "MemorySink", True),
    "files": (lambda to, at: to.format("json").option("path", str(at / "out")), "FileSink", True),
    "foreach": (lambda to, _: to.foreach(ignore), "ForeachWriterTable", False),
    "foreachBatch": (lambda to, _: to.foreachBatch(ignore_batch), "ForeachBatchSink", False),
}


@pytest.mark.parametrize("sink", SINKS)
def test_a_sink_of_sparks_is_known_by_what_spark_calls_it(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    to, name, stands_two_attempts = SINKS[sink]
    source = tmp_path / "in"
    source.mkdir()
    # Spark plans the batch of an empty file as well, and has nothing to give to Python workers.
    (source / "lines.txt").touch()
    writer = spark.readStream.text(str(source)).writeStream.trigger(availableNow=True)
    query = to(writer, tmp_path).option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        assert query.awaitTermination(60)
        progress = query.lastProgress
    finally:
        query.stop()

    assert progress is not None
    description = progress.sink.description
    assert sinks.name(description) == name
    harm = sinks.harm(description)
    assert (harm is None) is stands_two_attempts
    # The unsafe ones are known as well, rather than by not being known.
    assert harm is None or "not known" not in harm

"""How far a real query is behind its source, where the source says so."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.streaming.query import StreamingQuery

from collectors.formats.wire import Batch, Frame
from dashboard.testing.stack import RedisServer
from tests.collectors.frames import arrived_when
from tests.waiting import until

pytestmark = pytest.mark.spark

ROWS, ROWS_PER_BATCH = 200, 40
TRIES = 5


@pytest.fixture(scope="module", autouse=True)
def same_python() -> Iterator[None]:
    """Spark's Python workers have what the tests have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield


def tape() -> type[DataSource]:
    """Rows on a tape of known length, so many at a time. Made here, to go to workers by value."""

    class Reader(DataSourceStreamReader):
        def initialOffset(self) -> dict[str, Any]:
            return {"tape": {"0": 0}}

        def getDefaultReadLimit(self) -> ReadLimit:
            return ReadMaxRows(ROWS_PER_BATCH)

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
            return {"tape": {"0": min(ROWS, start["tape"]["0"] + ROWS_PER_BATCH)}}

        def reportLatestOffset(self) -> dict[str, Any]:
            return {"tape": {"0": ROWS}}

        def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
            return [InputPartition((start["tape"]["0"], end["tape"]["0"]))]

        def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
            return ((value,) for value in range(*partition.value))

    class Tape(DataSource):
        @classmethod
        def name(cls) -> str:
            return "tape"

        def schema(self) -> str:
            return "value long"

        def streamReader(self, schema: Any) -> DataSourceStreamReader:
            return Reader()

    return Tape


def batches(frames: list[Frame]) -> list[Batch]:
    return [batch for frame in frames for batch in frame.batches]


def started(start: Callable[[int], StreamingQuery]) -> StreamingQuery:
    """The query, once it has read something. Spark gives the Python process of a source ten seconds
    to start, whatever else the machine does, and ends the query then: it is started again."""
    for attempt in range(TRIES):
        query = start(attempt)
        if "failed to connect back" not in str(until(partial(first_word, query), timeout_s=60)):
            break
    return query


def first_word(query: StreamingQuery) -> object:
    return query.lastProgress or query.exception()


def test_a_query_that_catches_up_shows_ever_fewer_rows_behind(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    spark.dataSource.register(tape())
    query = started(
        lambda attempt: (
            spark.readStream.format("tape")
            .load()
            .writeStream.queryName("tape")
            .format("memory")
            # A query into memory cannot go on from a checkpoint, not even from an empty one.
            .option("checkpointLocation", checkpoint(f"tape-{attempt}"))
            .trigger(processingTime="200 milliseconds")
            .start()
        )
    )
    full = ROWS // ROWS_PER_BATCH
    frames = arrived_when(
        module_redis, "tests.tape", lambda seen: len(batches(seen)) >= full, timeout_s=60
    )
    query.stop()
    # From the second batch on there are two offsets that tell what they count.
    first, *told = [rows for rows, _ in groupby(frame.backlog_rows for frame in frames)]
    assert first is None
    behind = [rows for rows in told if rows is not None]
    assert behind == told
    assert behind == sorted(set(behind), reverse=True)
    assert set(behind) <= set(range(0, ROWS - ROWS_PER_BATCH, ROWS_PER_BATCH))
    assert len(behind) > 1
    assert behind[-1] == 0
    assert sum(batch.rows_in for batch in batches(frames)) == ROWS == spark.table("tape").count()


def files(spark: SparkSession, folder: Path) -> DataFrame:
    for number in range(9):
        (folder / f"{number}.txt").write_text(str(number))
    return spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder))


def ticks(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 9).load()


@pytest.mark.parametrize("source", [files, ticks])
def test_where_spark_does_not_say_how_far_behind_there_is_no_number(
    spark: SparkSession,
    module_redis: RedisServer,
    tmp_path: Path,
    checkpoint: Callable[[str], str],
    source: Callable[[SparkSession, Path], DataFrame],
) -> None:
    (tmp_path / "in").mkdir()
    name = source.__name__
    query = (
        source(spark, tmp_path / "in")
        .writeStream.queryName(name)
        .format("noop")
        .option("checkpointLocation", checkpoint(name))
        .start()
    )
    frames = arrived_when(
        module_redis, f"tests.{name}", lambda seen: len(batches(seen)) >= 3, timeout_s=60
    )
    query.stop()
    assert {frame.backlog_rows for frame in frames} == {None}

"""Checkpoints of the java.nio file manager and of plain Spark are the same checkpoints."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from examples.session import stop_between_batches
from tests.collectors.conftest import probe
from tests.waiting import until

pytestmark = pytest.mark.spark

SETTING = "spark.sql.streaming.checkpointFileManagerClass"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ROWS = 100


def counts(spark: SparkSession, checkpoint: str, batches: int) -> dict[int, int]:
    """Runs a stateful query up to this many batches and gives its state: rows per key."""
    seen: dict[int, int] = {}

    def keep(frame: Any, _batch_id: int) -> None:
        seen.update({row.key: row["count"] for row in frame.collect()})

    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS)
        .load()
        .groupBy((F.col("value") % 7).alias("key"))
        .count()
        .writeStream.outputMode("update")
        .foreachBatch(keep)
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="50 milliseconds")
        .start()
    )
    until(lambda: (last := query.lastProgress) and last.batchId >= batches - 1, timeout_s=60)
    stop_between_batches(query)
    return seen


@pytest.fixture
def on_rocksdb(spark: SparkSession) -> SparkSession:
    spark.conf.set(PROVIDER, ROCKSDB)
    return spark


@pytest.mark.parametrize("order", ["ours then plain", "plain then ours"])
def test_a_query_goes_on_under_the_other_file_manager(
    on_rocksdb: SparkSession, checkpoint: Callable[[str], str], order: str
) -> None:
    spark, folder = on_rocksdb, checkpoint("both")
    managers = [CHECKPOINT_FILE_MANAGER, None]
    batches = 0
    for manager in managers if order.startswith("ours") else reversed(managers):
        spark.conf.set(SETTING, manager) if manager else spark.conf.unset(SETTING)
        batches += 4
        total = sum(counts(spark, folder, batches).values())
    done = len(list(Path(folder, "commits").glob("[0-9]*")))
    assert done >= 8
    # Every batch was counted exactly once, across both: the last one may not be committed.
    assert total in (done * ROWS, (done + 1) * ROWS)
    spark.conf.set(SETTING, CHECKPOINT_FILE_MANAGER)


class Files:
    """The file manager itself, driven from Python."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        configuration = jvm.org.apache.hadoop.conf.Configuration()
        self._root = root
        self.manager = probe(spark).NioCheckpointFileManager(self.path(""), configuration)

    def path(self, name: str) -> Any:
        return self._path(f"file:{self._root / name}")

    def create(self, name: str, content: bytes, overwrite: bool = True) -> Any:
        out = self.manager.createAtomic(self.path(name), overwrite)
        out.write(content)
        return out


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Files:
    return Files(spark, tmp_path)


def test_a_file_appears_whole_or_not_at_all(files: Files, tmp_path: Path) -> None:
    out = files.create("a", b"whole")
    assert not (tmp_path / "a").exists()
    out.close()
    out.close()
    assert (tmp_path / "a").read_bytes() == b"whole"
    assert os.listdir(tmp_path) == ["a"]


def test_a_cancelled_file_never_was(files: Files, tmp_path: Path) -> None:
    files.create("a", b"half").cancel()
    assert os.listdir(tmp_path) == []


def test_of_two_writers_that_may_not_overwrite_one_wins(files: Files, tmp_path: Path) -> None:
    first = files.create("a", b"first", overwrite=False)
    second = files.create("a", b"second", overwrite=False)
    first.close()
    with pytest.raises(Py4JJavaError, match="FileAlreadyExists"):
        second.close()
    assert (tmp_path / "a").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]


def test_overwriting_removes_the_checksum_plain_spark_left(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / ".a.crc").write_bytes(b"crc")
    files.create("a", b"new").close()
    assert os.listdir(tmp_path) == ["a"]


def test_a_listing_shows_files_and_not_their_checksums(files: Files, tmp_path: Path) -> None:
    for name in ("a", ".a.crc", "b"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    names = sorted(status.getPath().getName() for status in files.manager.list(files.path("")))
    assert names == ["a", "b", "folder"]


def test_what_is_missing_is_said_in_hadoops_words(files: Files) -> None:
    for call in (files.manager.open, files.manager.list):
        with pytest.raises(Py4JJavaError, match="FileNotFoundException"):
            call(files.path("nothing"))
    assert not files.manager.exists(files.path("nothing"))
    files.manager.delete(files.path("nothing"))


def test_a_folder_is_deleted_with_what_is_in_it(files: Files, tmp_path: Path) -> None:
    files.manager.mkdirs(files.path("one/two"))
    files.create("one/two/a", b"x").close()
    files.manager.delete(files.path("one"))
    assert os.listdir(tmp_path) == []


def test_a_path_that_is_not_local_is_refused(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    with pytest.raises(IllegalArgumentException, match="is for local disks"):
        probe(spark).NioCheckpointFileManager(
            jvm.org.apache.hadoop.fs.Path("s3a://bucket/checkpoint"),
            jvm.org.apache.hadoop.conf.Configuration(),
        )

"""The example jobs' cloud disk bounds both ways in which Spark writes a checkpoint."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dashboard.testing.stack import redis_server
from examples.session import cloud_disk_jar, disk
from tests.collectors.conftest import spark_session

pytestmark = pytest.mark.spark

RATE_MB_S = 1.0
BYTES = 300_000
TAKES_S = BYTES / RATE_MB_S / 1e6


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with redis_server() as redis, spark_session(redis.url) as session:
        yield session


@pytest.fixture(scope="module")
def loader(spark: SparkSession) -> Any:
    """The session runs already, so what its class path lacks comes by a loader of our own. One for
    all tests: py4j remembers methods by the name of their class."""
    context: Any = spark.sparkContext
    jvm = context._jvm
    urls = context._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.net.URL(cloud_disk_jar().as_uri())
    above = jvm.Thread.currentThread().getContextClassLoader()
    return jvm.java.net.URLClassLoader(urls, above)


class CloudDisk:
    """Both classes of the example, driven from Python, with one rate."""

    def __init__(self, spark: SparkSession, loader: Any, folder: Path) -> None:
        context: Any = spark.sparkContext
        self._jvm, self._gateway = context._jvm, context._gateway
        self._loader = loader
        self._folder = folder
        self._conf = self._jvm.org.apache.hadoop.conf.Configuration(False)
        self._conf.set("curtail.example.disk-mb-s", str(RATE_MB_S))
        self.files = self._made("CloudCheckpoints", self.path(""), self._conf)
        self.system = self._made("CloudDisk")
        self.system.initialize(self._jvm.java.net.URI("file:///"), self._conf)

    def path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"file:{self._folder / name}")

    def changelog(self, name: str, size: int = BYTES) -> Any:
        out = self.files.createAtomic(self.path(name), True)
        out.write(bytes(size))
        return out

    def upload(self, name: str) -> None:
        (self._folder / f"{name}.local").write_bytes(bytes(BYTES))
        self.system.copyFromLocalFile(False, self.path(f"{name}.local"), self.path(name))

    def _made(self, name: str, *given: Any) -> Any:
        made = self._loader.loadClass(f"io.curtail.examples.{name}").getConstructors()[0]
        arguments = self._gateway.new_array(self._jvm.Object, len(given))
        for at, each in enumerate(given):
            arguments[at] = each
        return made.newInstance(arguments)


@pytest.fixture
def cloud(spark: SparkSession, loader: Any, tmp_path: Path) -> CloudDisk:
    return CloudDisk(spark, loader, tmp_path)


def took_s(*doing: Callable[[], object]) -> float:
    """All of them at once."""
    began_s = time.monotonic()
    with ThreadPoolExecutor(len(doing)) as threads:
        for done in [threads.submit(each) for each in doing]:
            done.result()
    return time.monotonic() - began_s


def test_a_snapshot_s_file_takes_its_time(cloud: CloudDisk, tmp_path: Path) -> None:
    assert took_s(lambda: cloud.upload("1.sst")) >= TAKES_S
    assert (tmp_path / "1.sst").stat().st_size == BYTES


def test_a_changelog_takes_its_time_and_has_its_name_only_then(
    cloud: CloudDisk, tmp_path: Path
) -> None:
    out = cloud.changelog("1.changelog")
    assert not (tmp_path / "1.changelog").exists()
    assert took_s(out.close) >= TAKES_S
    assert (tmp_path / "1.changelog").stat().st_size == BYTES


def test_changelogs_and_snapshots_share_the_rate(cloud: CloudDisk) -> None:
    out = cloud.changelog("1.changelog")
    assert took_s(out.close, lambda: cloud.upload("1.sst")) >= 2 * TAKES_S


def test_a_cancelled_changelog_never_was_and_takes_no_time(
    cloud: CloudDisk, tmp_path: Path
) -> None:
    out = cloud.changelog("1.changelog", size=100 * BYTES)
    assert took_s(out.cancel) < 100 * TAKES_S / 2
    out.close()
    assert list(tmp_path.iterdir()) == []


def test_an_example_on_a_cloud_disk_writes_both_ways_through_it() -> None:
    options = disk(60)
    assert options["spark.hadoop.curtail.example.disk-mb-s"] == "60"
    assert options["spark.hadoop.fs.file.impl"] == "io.curtail.examples.CloudDisk"
    manager = options["spark.sql.streaming.checkpointFileManagerClass"]
    assert manager == "io.curtail.examples.CloudCheckpoints"

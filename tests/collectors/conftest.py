"""A real Spark session with the probe, one per test module."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from collectors import instrument
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from dashboard.testing.stack import RedisServer, redis_server

# For JVMs of a few batches: the better compiler would take more time than it saves.
QUICK_TO_START = "-XX:TieredStopAtLevel=1"
SHORT_LIVED = f"{QUICK_TO_START} -XX:+UseSerialGC"
# Tests that judge a pace run alone, in a JVM as users have it.
BESIDE_OTHERS = "PYTEST_XDIST_WORKER" in os.environ


@contextmanager
def spark_session(redis_url: str, **options: str) -> Iterator[SparkSession]:
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .appName("curtail-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        .config("spark.driver.host", "127.0.0.1")
    )
    if BESIDE_OTHERS:
        builder = builder.config("spark.driver.extraJavaOptions", QUICK_TO_START)
    builder = instrument(builder, redis=redis_url, job="tests")
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        for query in spark.streams.active:
            query.stop()
        # What the first session of a JVM was begun with would be every later one's default.
        for key in options:
            spark.sparkContext._jvm.System.clearProperty(key)  # type: ignore[union-attr]
        spark.stop()


@pytest.fixture(scope="module")
def module_redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    with spark_session(module_redis.url) as session:
        yield session


@pytest.fixture
def checkpoint(tmp_path: Path) -> Callable[[str], str]:
    return lambda name: str(tmp_path / name)


def stores(spark: SparkSession) -> list[Any]:
    """The state stores of the queries that run. Spark unloads those of ended ones up to a minute
    later, so an earlier module's, of another provider, may still be loaded in this JVM."""
    running = {str(query.runId) for query in spark.streams.active}
    loaded = probe(spark).StateStores.loaded()
    found = [loaded.apply(number) for number in range(loaded.size())]
    return [store for store in found if store.id().runId() in running]


def probe(spark: SparkSession) -> Any:
    """The probe's Scala package, as py4j sees it."""
    jvm: Any = spark.sparkContext._jvm
    return jvm.io.curtail.probe

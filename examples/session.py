"""What the example jobs share: their common options and an instrumented session."""

import argparse
import os
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from collectors import instrument, stamp
from collectors.spark.build import PROBE_DIR, compiled
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER, DEFAULT_REDIS

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

# The simulated cloud disk, and the class it extends, which is needed to compile it.
CLOUD_DISK = (
    Path(__file__).parent / "CloudDisk.scala",
    PROBE_DIR / "statestore" / "NioCheckpointFileManager.scala",
)


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    made.add_argument(
        "--redis", default=os.environ.get("REDIS_URL", DEFAULT_REDIS), help="where frames go"
    )
    made.add_argument("--master", default="local[2]", help="Spark master")
    made.add_argument("--partitions", type=positive, default=4, help="state partitions per stage")
    made.add_argument(
        "--interval-ms",
        type=positive,
        help="between micro-batches; if absent, a batch as soon as the source has news, which is "
        "every second",
    )
    made.add_argument(
        "--disk-mb-s",
        type=positive,
        help="megabytes a second that the checkpoint's disk takes of state, as a cloud's does; if "
        "absent, what this machine's takes",
    )
    made.add_argument(
        "--changelog",
        action="store_true",
        help="commits upload changelogs, and a snapshot every tenth; otherwise every commit "
        "uploads RocksDB's files",
    )
    made.add_argument(
        "--checkpoint", type=Path, help="checkpoint folder; a temporary one if absent"
    )
    made.add_argument("--seconds", type=positive, help="stop after this long; runs on if absent")
    return made


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def session(
    name: str, options: argparse.Namespace, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """`conf` are further options of Spark; they replace those that all examples have."""
    builder = (
        SparkSession.Builder()
        .appName(name)
        .master(options.master)
        .config("spark.sql.shuffle.partitions", options.partitions)
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        # On a local disk Hadoop's file manager forks a process per file: we would measure forks.
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        # Nobody goes back a hundred batches in an example, and each may be hundreds of megabytes.
        .config("spark.sql.streaming.minBatchesToRetain", 4)
        .config(CHANGELOG, str(options.changelog).lower())
        .config("spark.sql.streaming.pollingDelay", "50ms")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
    )
    for key, value in {**disk(options.disk_mb_s), **(conf or {})}.items():
        builder = builder.config(key, value)
    spark = instrument(builder, redis=options.redis, job=name).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def disk(mb_s: int | None) -> dict[str, str]:
    if mb_s is None:
        return {}
    return {
        # Not `spark.jars`: Spark opens its first file before those are loaded.
        "spark.driver.extraClassPath": str(cloud_disk_jar()),
        "spark.hadoop.fs.file.impl": "io.curtail.examples.CloudDisk",
        "spark.sql.streaming.checkpointFileManagerClass": "io.curtail.examples.CloudCheckpoints",
        "spark.hadoop.curtail.example.disk-mb-s": str(mb_s),
    }


def cloud_disk_jar() -> Path:
    return compiled("curtail-cloud-disk", list(CLOUD_DISK))


def interval(options: argparse.Namespace) -> str:
    return f"{options.interval_ms or 0} milliseconds"


def checkpoint(name: str, options: argparse.Namespace) -> str:
    folder = options.checkpoint or Path(tempfile.mkdtemp(prefix=f"curtail-{name}-"))
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder.resolve())


def started(
    rows: DataFrame, name: str, query: str, options: argparse.Namespace, mode: str = "append"
) -> StreamingQuery:
    """Starts a query that records latencies; rows go nowhere, or to the terminal."""
    return (
        rows.transform(stamp("event_time"))
        .writeStream.queryName(query)
        .outputMode(mode)
        .format("console" if options.show else "noop")
        .option("checkpointLocation", checkpoint(name, options))
        .trigger(processingTime=interval(options))
        .start()
    )


def run(spark: SparkSession, query: StreamingQuery, options: argparse.Namespace) -> int:
    """Runs until the time is up, Ctrl-C or SIGTERM; then stops, between two batches if it can."""
    asked = threading.Event()
    # Not `awaitTermination`: an exception out of a call into the JVM would break py4j's connection.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: asked.set())
    deadline_s = time.monotonic() + (options.seconds or float("inf"))
    while query.isActive and time.monotonic() < deadline_s and not asked.wait(0.2):
        pass
    failure = query.exception()
    stop_between_batches(query)
    spark.stop()
    if failure:
        raise failure
    return 0


def stop_between_batches(query: StreamingQuery, patience_s: float = 5) -> None:
    """Waits for a moment between batches: a batch that is interrupted is repeated after a restart,
    but logs pages of errors.

    A query that cannot keep up is never idle, so the end of a batch will do as well.
    """
    deadline_s = time.monotonic() + patience_s
    at = _last_batch(query)
    while time.monotonic() < deadline_s and query.status["isTriggerActive"]:
        if _last_batch(query) != at:
            break
        time.sleep(0.01)
    query.stop()


def _last_batch(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return progress.batchId if progress else None

"""The job whose state is moved: all queries of `moved_queries.py` at once, until SIGTERM.

Every batch writes the rows it put out to a file, each with the partition that it came from and the
host that this ran on. With `--like` it is the untouched run: each query runs as many batches as the
folder that is named there has, as fast as it goes, and then the state of both is written down.
"""

import argparse
import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from collectors import instrument
from collectors.spark.build import probe_jar
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER
from dashboard.testing.cluster import HOST_VARIABLE
from tests.cluster.job import JAVA_OPTIONS
from tests.cluster.moved_queries import QUERIES, Moved
from tests.cluster.orders import write

NAME = "moved"
PARTITIONS = 3
# About what seven queries need for a batch each on two cores: none runs far ahead of the others.
INTERVAL_MS = 2_500
# Spark gives a new Python worker 10 s to connect, whatever is configured, and on a busy machine it
# may take longer. So queries with Python begin first, one after the other.
TOO_LATE = "Python worker failed to connect back"
_HOST = f"reflect('java.lang.System', 'getenv', '{HOST_VARIABLE}')"


def main() -> int:
    options = arguments().parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    spark = session(options)
    running: dict[str, StreamingQuery] = {}

    def again() -> list[Exception]:
        """Starts queries whose Python came too late, as who looks after a job would. Returns what
        others failed with."""
        failed: list[Exception] = []
        for name, query in running.items():
            failure = query.exception()
            if TOO_LATE in str(failure or ""):
                running[name] = start(spark, name, QUERIES[name], options)
            elif failure:
                failed.append(failure)
        return failed

    failed: list[Exception] = []
    for name, moved in sorted(QUERIES.items(), key=lambda each: not each[1].is_python):
        running[name] = start(spark, name, moved, options)
        while moved.is_python and not (failed or running[name]._jsq.lastProgress()):
            failed = again()
            if ended.wait(0.1):
                break
    if options.like is None:
        while not (failed or ended.wait(0.1)):
            failed = again()
    else:
        last = {name: len(put_out(options.like, name)) - 1 for name in running}
        failed = until_done(running, last, again)
        for folder in (options.out, options.like):
            for name, moved in QUERIES.items():
                # The batch before the last is committed for certain.
                found = state(spark, moved, folder / "checkpoint" / name, last[name] - 1)
                write(options.out / f"{folder.name}-{name}.state", found)
    for query in running.values():
        query.stop()
    spark.stop()
    if failed:
        raise failed[0]
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--conf", type=json.loads, required=True)
    parser.add_argument("--redis", help="instrumented if given")
    parser.add_argument("--like", type=Path, help="the folder of a run that is over")
    return parser


def session(options: argparse.Namespace) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .appName(NAME)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config("spark.sql.streaming.checkpointFileManagerClass", CHECKPOINT_FILE_MANAGER)
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.executor.extraJavaOptions", JAVA_OPTIONS)
        # Often, so that stores upload, clean up and are closed in the middle of moves.
        .config("spark.sql.streaming.stateStore.maintenanceInterval", "2s")
        .config("spark.sql.streaming.stateStore.minDeltasForSnapshot", 3)
        # Spark gives Python 15 s to start, which seven queries at once on two cores may take.
        .config("spark.python.authenticate.socketTimeout", "120s")
        # Spark runs a task elsewhere if its executor is busy for 3 s, as it may be here. Where only
        # the host is preferred, as by a shuffle, any other does as well.
        .config("spark.locality.wait.process", "20s")
        .config("spark.locality.wait.node", "0s")
    )
    for key, value in options.conf.items():
        builder = builder.config(key, value)
    if options.redis:
        builder = instrument(builder, redis=options.redis, job=NAME)
    else:
        # Nothing of the probe runs but the checkpoint files, the same on both sides.
        builder = builder.config("spark.jars", str(probe_jar()))
        builder = builder.config("spark.driver.extraClassPath", str(probe_jar()))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def start(
    spark: SparkSession, name: str, moved: Moved, options: argparse.Namespace
) -> StreamingQuery:
    (options.out / name).mkdir(exist_ok=True)
    # A query keeps the session's options of the moment that it starts.
    for key, value in moved.conf.items():
        spark.conf.set(key, value)
    interval_ms = INTERVAL_MS if options.like is None else 0

    def put_out(changed: DataFrame, batch_id: int) -> None:
        rows = changed.select(
            F.to_json(F.struct("*")), F.spark_partition_id(), F.expr(_HOST)
        ).collect()
        write(options.out / name / f"batch-{batch_id:05}.json", sorted(map(list, rows), key=str))

    return (
        moved.frame(spark)
        .writeStream.queryName(name)
        .outputMode(moved.mode)
        .foreachBatch(put_out)
        .option("checkpointLocation", str(options.out / "checkpoint" / name))
        .trigger(processingTime=f"{interval_ms} milliseconds")
        .start()
    )


def until_done(
    running: dict[str, StreamingQuery], last: dict[str, int], again: Callable[[], object]
) -> list[Exception]:
    """Returns when every query has run its batches; stops each as soon as it has. Returns what
    queries failed with by themselves: one that is stopped while Spark plans its next batch has an
    exception too."""
    left = set(running)
    failed: list[Exception] = []
    while left:
        again()
        for name in tuple(left):
            query = running[name]
            done: Any = query._jsq.lastProgress()
            if done and done.batchId() >= last[name]:
                query.stop()
                left.remove(name)
            elif not query.isActive:
                failed.append(query.exception() or RuntimeError(f"{name} ended too early"))
                left.remove(name)
        threading.Event().wait(0.1)
    return failed


def state(spark: SparkSession, moved: Moved, checkpoint: Path, batch_id: int) -> list[list[str]]:
    """All keys and values after this batch, whatever partitions they are in."""
    found: list[list[str]] = []
    for part in moved.state:
        read = spark.read.format("statestore").options(batchId=str(batch_id), **part)
        rows: Any = read.load(str(checkpoint)).drop("partition_id").toJSON().collect()
        found.append(sorted(rows))
    return found


def put_out(out: Path, name: str) -> dict[int, Any]:
    """What every batch of a query put out, by its number."""
    paths = (out / name).glob("batch-*.json")
    return {int(path.stem.removeprefix("batch-")): json.loads(path.read_text()) for path in paths}


if __name__ == "__main__":
    raise SystemExit(main())

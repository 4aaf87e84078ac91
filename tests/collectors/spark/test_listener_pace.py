"""Progress events reach Python at 30 a second, each within 50 ms of the end of its batch."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from tests.collectors.conftest import spark_session
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.quiet]

QUERIES, INTERVAL_MS, EVENTS = 3, 100, 150
WITHIN_MS = 50

# Stands where the collector does, on the same pipe, and notes when each event came.
TIMEKEEPER = """#!{python}
import os, time
from collectors.process.link import Inbox, MessageKind
inbox = Inbox()
with open({notes!r}, "ab", buffering=0) as notes:
    while data := os.read(0, 1 << 16):
        for message in inbox.messages(data):
            if message.kind == MessageKind.QUERY_PROGRESS:
                event = message.payload.replace(b"\\n", b"")
                notes.write(b"%d %s\\n" % (time.time_ns() // 1_000_000, event))
"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pace") / "notes"


@pytest.fixture(scope="module")
def timed_spark(notes: Path) -> Iterator[SparkSession]:
    keeper = notes.with_name("timekeeper")
    keeper.write_text(TIMEKEEPER.format(python=sys.executable, notes=str(notes)))
    keeper.chmod(0o755)
    options = {"spark.curtail.python": str(keeper)}
    with spark_session("redis://127.0.0.1:1/0", **options) as session:
        yield session


def delays_ms(notes: Path) -> list[float]:
    """From the moment Spark says a batch ended to the moment Python read of it."""
    found = []
    for line in notes.read_bytes().splitlines() if notes.exists() else ():
        arrived_ms, _, event = line.partition(b" ")
        progress = json.loads(event)
        started_ms = np.datetime64(progress["timestamp"].rstrip("Z"), "ms").astype(int)
        found.append(int(arrived_ms) - started_ms - progress["durationMs"]["triggerExecution"])
    return found


def test_thirty_batches_a_second_are_reported_without_falling_behind(
    timed_spark: SparkSession, notes: Path, checkpoint: Callable[[str], str]
) -> None:
    queries = [
        timed_spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 1)
        .option("numPartitions", 1)
        .load()
        .writeStream.queryName(f"fast-{number}")
        .format("noop")
        .option("checkpointLocation", checkpoint(f"fast-{number}"))
        .trigger(processingTime=f"{INTERVAL_MS} milliseconds")
        .start()
        for number in range(QUERIES)
    ]

    def kept_up() -> bool:
        """For the last 150: other programs may want the cores for a while."""
        told = delays_ms(notes)
        return len(told) >= 2 * EVENTS and bool(np.percentile(told[-EVENTS:], 99) <= WITHIN_MS)

    until(kept_up, timeout_s=120, every_s=0.5)
    for query in queries:
        query.stop()

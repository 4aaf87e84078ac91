"""The lever on a running query with changelog checkpoints: when its stores write snapshots.

That plain Spark goes on from such a checkpoint is in `test_killed_levers`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.testing.stack import RedisServer
from techniques.detection.changelogs import CHANGELOGS_FIRST
from techniques.shadowsync.snapshots import next_snapshot, offset
from tests.collectors.conftest import probe, spark_session, stores
from tests.collectors.probe.test_state_store_lever import Job
from tests.collectors.query_input import ROWS
from tests.collectors.stateful_job import KEYS, PROVIDERS

pytestmark = pytest.mark.spark

PARTITIONS = 4
EVERY = 4
SEED = 3
CHANGELOG = {
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}RocksDBStateStoreProvider",
    # As the line that is advised says it: this is the test that Spark knows it.
    **dict([CHANGELOGS_FIRST.line.removeprefix("--conf ").split("=")]),
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": str(EVERY),
    # Snapshots are uploaded when the test says so.
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
}


class Snapshots:
    """What the checkpoint has of a job whose snapshots are uploaded after every batch."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.version = 1

    def batches(self, count: int, upload: bool = True) -> None:
        for _ in range(count):
            self.job.batches(1)
            self.version += 1
            if upload:
                self.upload()

    def upload(self) -> None:
        """As Spark's maintenance does. Only while no batch runs."""
        for store in stores(self.job.spark):
            store.provider().doSnapshotMaintenance()

    def of(self, partition: int, since: int = 0) -> list[int]:
        files = Path(f"{self.job.folder.path}/checkpoint/state/0/{partition}").glob("*.zip")
        versions = {int(each.stem.split("_")[0]) for each in files}
        return sorted(each for each in versions if each > since)

    def since(self, version: int) -> dict[int, list[int]]:
        return {partition: self.of(partition, version) for partition in range(PARTITIONS)}


@pytest.fixture(scope="module")
def snapshots(
    module_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Snapshots]:
    options = {"spark.master": "local[2,2]", **CHANGELOG}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        with spark_session(module_redis.url, **options) as spark:
            path = tmp_path_factory.mktemp("snapshots") / "job"
            yield Snapshots(Job(spark, module_redis, path))


def phased(after: int, until: int, seed: int = SEED) -> dict[int, list[int]]:
    """Where snapshots are due, by partition: (version + offset) mod n = 0."""
    return {
        partition: [
            version
            for version in range(after + 1, until + 1)
            if (version + offset(seed, 0, partition, EVERY)) % EVERY == 0
        ]
        for partition in range(PARTITIONS)
    }


def in_step(*versions: int) -> dict[int, list[int]]:
    return {partition: list(versions) for partition in range(PARTITIONS)}


def counted(files: int) -> dict[int, int]:
    """What the state holds after so many batches."""
    rows = range(files * ROWS)
    return {key: sum(1 for row in rows if row % KEYS == key) for key in range(KEYS)}


def test_the_executor_counts_as_the_algorithm_says(snapshots: Snapshots) -> None:
    versions: Any = probe(snapshots.job.spark).SnapshotVersions
    offsets = [
        (seed, operator, partition, every)
        for seed, operator in ((0, 0), (7, 1), (2**31 - 1, 12))
        for partition in (0, 1, 2, 9, 63, 200)
        for every in (1, 2, 3, 10, 64, 100)
    ]
    counters = [
        (loaded, loaded - since, every, at)
        for loaded in (0, 17, 1_000_000)
        for since in (0, 3, 11, 19, 20, 40)
        for every in (2, 10)
        for at in range(every)
    ]

    assert [versions.offset(*each) for each in offsets] == [offset(*each) for each in offsets]
    assert [versions.lastSnapshot(*each) + each[2] for each in counters] == [
        next_snapshot(*each) for each in counters
    ]


def test_snapshots_that_come_in_the_same_batch_no_longer_do(snapshots: Snapshots) -> None:
    snapshots.batches(EVERY)
    assert snapshots.since(0) == in_step(EVERY)

    snapshots.job.ask(snapshots=True, seed=SEED)
    since = snapshots.version
    snapshots.batches(2 * EVERY)

    found = snapshots.since(since)
    assert found == phased(since, snapshots.version)
    assert len({versions[0] for versions in found.values()}) == min(PARTITIONS, EVERY)


def test_a_store_that_spark_loads_again_gets_back_into_its_phase(snapshots: Snapshots) -> None:
    """Without uploads it counts from a snapshot that is long past, and writes one at once."""
    snapshots.job.ask(snapshots=True, seed=SEED)
    snapshots.upload()
    snapshots.batches(EVERY + 1, upload=False)
    before = snapshots.job.databases()
    snapshots.job.fail_once()
    snapshots.version += 1
    again = [p for p, db in snapshots.job.databases().items() if not db.equals(before[p])]
    snapshots.upload()
    assert again
    assert {snapshots.of(each)[-1] for each in again} == {snapshots.version}

    snapshots.job.ask(snapshots=True, seed=SEED)
    since = snapshots.version
    snapshots.batches(EVERY)
    assert snapshots.since(since) == phased(since, snapshots.version)


def test_letting_go_brings_them_back_into_the_step_they_were_found_in(
    snapshots: Snapshots,
) -> None:
    snapshots.job.ask(snapshots=True, seed=SEED)
    snapshots.job.let_go()
    since = snapshots.version
    snapshots.batches(EVERY)

    multiples = [v for v in range(since + 1, snapshots.version + 1) if v % EVERY == 0]
    assert snapshots.since(since) == in_step(*multiples)


def test_versions_between_snapshots_can_be_read(snapshots: Snapshots) -> None:
    snapshots.job.ask(snapshots=True, seed=SEED)
    snapshots.batches(EVERY)
    reader = snapshots.job.spark.read.format("statestore")
    for version in (snapshots.version, snapshots.version - 2):
        state = reader.option("batchId", version - 1)
        rows = state.load(f"{snapshots.job.folder.path}/checkpoint").collect()
        assert {row.key.key: row.value["count"] for row in rows} == counted(version)

"""The lever on state stores, on a running query: what is drawn is set, and set back."""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from redis import Redis

from collectors.formats import activity, keys
from collectors.formats.activity import Activity, Kind
from collectors.formats.asked import State
from collectors.formats.control import Scalar, Wanted
from dashboard.testing.stack import RedisServer
from techniques.shadowsync.algorithm import MARGIN, SLOWDOWN, THRESHOLD, alpha, threshold
from tests.collectors.conftest import probe, spark_session, stores
from tests.collectors.control_client import Operator, held_until
from tests.collectors.query_input import Folder
from tests.collectors.stateful_job import PROVIDERS, counts_of
from tests.waiting import until

pytestmark = pytest.mark.spark

NAME = "jammed"
# Seven keys fall into four of five partitions.
PARTITIONS = 5
FLUSHING = (1, 2, 3, 4)
LEASE_MS = 60_000
DELAY_MS = 400
CEILING = SLOWDOWN - MARGIN


def drawn(seed: int, reopened: int = 0) -> dict[int, int]:
    return {each: threshold(alpha(seed, 0, each, reopened=reopened)) for each in range(PARTITIONS)}


def is_telling(seed: int) -> bool:
    """Most thresholds occur, and a store that is opened again gets another."""
    first, second = drawn(seed), drawn(seed, reopened=1)
    changed = all(first[each] != second[each] for each in first)
    return (
        changed and len(set(first.values())) >= 3 and len({first[each] for each in FLUSHING}) >= 3
    )


SEED = next(seed for seed in range(10_000) if is_telling(seed))


class Job:
    """A query of one micro-batch per file, that an operator steers."""

    def __init__(self, spark: SparkSession, server: RedisServer, path: Path) -> None:
        self.spark = spark
        self.folder = Folder(path)
        self._server = server
        self._operator = Operator(server, f"tests.{NAME}")
        self._version = 0
        self._poison = path / "poison"
        self.query = self._started()
        self.batches(1)

    def batches(self, count: int) -> None:
        self.folder.add(files=count)
        self.query.processAllAvailable()

    def fail_once(self) -> None:
        """A task of the next batch fails when it has its store in hand, and Spark tries again."""
        self._poison.touch()
        self.batches(1)
        assert not self._poison.exists()

    def ask(self, lease_ms: int = LEASE_MS, **settings: Scalar) -> None:
        """Until the job says that it is applied."""
        self.wish(lease_ms, **settings)
        self.held()

    def wish(self, lease_ms: int = LEASE_MS, **settings: Scalar) -> None:
        self._version += 1
        self._wanted = Wanted("act", self._version, lease_ms, settings)
        self._operator.ask(self._version, shadowsync=self._wanted)

    def held(self) -> None:
        held_until(
            lambda: (
                [(each.version, each.state) for each in self._operator.states()]
                == [(self._version, State.APPLIED)]
            ),
            lambda: self._operator.ask(self._version, shadowsync=self._wanted),
        )

    def version(self) -> int:
        """Of the last commit, in all stores. Only while no batch runs."""
        (version,) = {int(store.version()) for store in self._stores()}
        return version

    def refused(self) -> str:
        until(lambda: self._operator.states()[0].state == State.REFUSED)
        return self._operator.states()[0].because

    def let_go(self) -> None:
        self._version += 1
        self._operator.ask(self._version)
        until(lambda: self._operator.all_let_go(self._version), timeout_s=60)

    def databases(self) -> dict[int, Any]:
        """Native ones, by partition. Only while no batch runs."""
        return {store.id().partition(): store.database() for store in self._stores()}

    def _stores(self) -> list[Any]:
        return [each for each in stores(self.spark) if each.id().runId() == str(self.query.runId)]

    def triggers(self) -> dict[int, int]:
        """As RocksDB itself says."""
        return {
            partition: database.getOptions().level0FileNumCompactionTrigger()
            for partition, database in self.databases().items()
        }

    def level0(self) -> dict[int, int]:
        found = self.databases().items()
        return {each: int(db.getProperty("rocksdb.num-files-at-level0")) for each, db in found}

    def ended(self, kind: Kind) -> Mapping[int, list[Activity]]:
        """By partition, as they began."""
        client = Redis.from_url(self._server.url)
        entries: Any = client.xrange(keys.activities(f"tests.{NAME}").key)
        found = [each for _, fields in entries for each in activity.decode(fields[keys.PAYLOAD])]
        by_partition = defaultdict(list)
        for each in sorted(found, key=lambda each: each.start_us):
            if each.kind == kind and each.partition is not None:
                by_partition[each.partition].append(each)
        return by_partition

    def waited_us(self, began_us: int) -> list[int]:
        """Of each compaction since then: from the end of its store's last flush to its start."""
        flushes, compactions = self.ended(Kind.FLUSH), self.ended(Kind.COMPACTION)
        return [
            each.start_us - max(f.end_us for f in flushes[partition] if f.start_us < each.start_us)
            for partition, found in compactions.items()
            for each in found
            if each.start_us > began_us
        ]

    def _started(self) -> StreamingQuery:
        poison = str(self._poison)

        @F.udf("long")
        def unless_poisoned(count: int) -> int:
            if os.path.exists(poison):
                os.remove(poison)
                raise RuntimeError("poisoned, as the test asked")
            return count

        def drain(frame: DataFrame, _batch_id: int) -> None:
            frame.collect()

        rows = self.spark.readStream.option("maxFilesPerTrigger", 1)
        counts = counts_of(rows.text(f"{self.folder.path}/in"), "count")
        return (
            counts.withColumn("count", unless_poisoned("count"))
            .writeStream.queryName(NAME)
            .outputMode("update")
            .foreachBatch(drain)
            .option("checkpointLocation", f"{self.folder.path}/checkpoint")
            .trigger(processingTime="0 seconds")
            .start()
        )


@pytest.fixture(scope="module")
def job(module_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    options = {
        "spark.master": "local[2,2]",  # a task that fails is tried again
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}RocksDBStateStoreProvider",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        with spark_session(module_redis.url, **options) as spark:
            yield Job(spark, module_redis, tmp_path_factory.mktemp("jam") / NAME)


def untouched() -> dict[int, int]:
    return dict.fromkeys(range(PARTITIONS), THRESHOLD)


def test_the_executor_draws_as_the_algorithm_says(job: Job) -> None:
    draws = probe(job.spark).Thresholds
    names = [
        (seed, operator, partition, store, reopened, spread)
        for seed, operator, partition in ((0, 0, 0), (7, 1, 63), (2**31 - 1, 12, 5))
        for store in ("default", "left-keyToNumValues", "ständig")
        for reopened in (0, 3)
        for spread in (1, 4, 7)
    ]

    assert [draws.alpha(*name) for name in names] == [alpha(*name) for name in names]


def test_stores_that_compact_at_the_same_checkpoint_no_longer_do(job: Job) -> None:
    assert job.triggers() == untouched()
    job.batches(THRESHOLD - 1)
    until(lambda: set(job.level0().values()) == {0})

    job.ask(thresholds=True, seed=SEED, spread=4)
    thresholds = drawn(SEED)
    assert job.triggers() == thresholds
    for flushes in range(1, 9):
        job.batches(1)
        files = {each: flushes % thresholds[each] if each in FLUSHING else 0 for each in thresholds}
        until(lambda files=files: job.level0() == files)  # type: ignore[misc]


def test_a_store_that_spark_opens_again_gets_a_threshold_of_its_own(job: Job) -> None:
    job.ask(thresholds=True, seed=SEED, spread=4)
    before, first = job.databases(), drawn(SEED)
    job.fail_once()

    (again,) = [each for each, db in job.databases().items() if not db.equals(before[each])]
    until(lambda: job.triggers() == first | {again: drawn(SEED, reopened=1)[again]})


def is_returning(job: Job) -> bool:
    """Whether each store that flushes has the trigger that Spark gave it, or for once the one by
    which it compacts at the next commit at which it would have without us: every fourth."""
    flushed = job.version() % THRESHOLD

    def trigger(files: int) -> int:
        in_step = files % THRESHOLD == flushed or files >= THRESHOLD
        return THRESHOLD if in_step else files + THRESHOLD - flushed

    files, triggers = job.level0(), job.triggers()
    return all(triggers[each] == trigger(files[each]) for each in FLUSHING)


def is_back(job: Job) -> bool:
    files, triggers = job.level0(), job.triggers()
    ours = {(files[each], triggers[each]) for each in FLUSHING}
    return ours == {(job.version() % THRESHOLD, THRESHOLD)}


def bring_back(job: Job) -> None:
    for _ in range(3 * THRESHOLD):
        until(lambda: is_returning(job))
        job.batches(1)
    until(lambda: is_back(job))


def test_letting_go_brings_back_the_triggers_and_the_checkpoints_at_which_stores_compacted(
    job: Job,
) -> None:
    job.ask(thresholds=True, seed=SEED, spread=4)
    job.let_go()
    bring_back(job)

    job.fail_once()
    until(lambda: is_back(job))


def test_stores_are_given_back_when_the_server_goes_away(job: Job) -> None:
    job.ask(lease_ms=5_000, thresholds=True, seed=SEED, spread=4)
    assert job.triggers() == drawn(SEED)

    until(lambda: job.triggers() == untouched())


def test_it_is_held_while_batches_follow_each_other_without_a_pause(job: Job) -> None:
    job.folder.add(files=10)
    job.ask(thresholds=True, seed=SEED + 1, spread=4)
    assert job.query.status["isDataAvailable"] or job.query.status["isTriggerActive"]
    job.query.processAllAvailable()
    assert job.triggers() == drawn(SEED + 1)
    job.let_go()


def test_stores_that_are_apart_get_in_step_and_stay_there(job: Job) -> None:
    base = 3
    job.ask(thresholds=True, seed=SEED, spread=4)
    job.batches(THRESHOLD + 1)
    job.wish(base=base, in_step=True)
    # One partition never flushes: only at a multiple of the threshold is it where the others are.
    for _ in range(2 * base):
        job.batches(1)
        until(lambda: stepped(job, base))
    while job.version() % base:
        job.batches(1)
        until(lambda: stepped(job, base))
    job.held()
    for _ in range(base):
        job.batches(1)
        files = job.version() % base
        until(lambda files=files: {job.level0()[each] for each in FLUSHING} == {files})  # type: ignore[misc]
    job.let_go()


def stepped(job: Job, base: int) -> bool:
    """Whether each store that flushes compacts at the next commit that is a multiple of base."""
    files, triggers, to_go = job.level0(), job.triggers(), base - job.version() % base
    return all(files[each] < base and triggers[each] == files[each] + to_go for each in FLUSHING)


def test_flush_and_compaction_threads_are_set_and_set_back(job: Job) -> None:
    jvm: Any = job.spark.sparkContext._jvm
    env, priority = jvm.org.rocksdb.Env.getDefault(), jvm.org.rocksdb.Priority
    cores = jvm.java.lang.Runtime.getRuntime().availableProcessors()

    def threads() -> tuple[int, int]:
        high, low = priority.valueOf("HIGH"), priority.valueOf("LOW")
        return env.getBackgroundThreads(high), env.getBackgroundThreads(low)

    before = threads()
    job.ask(threads=True, compaction_threads=3)
    assert threads() == (cores, 3)
    assert job.triggers() == untouched()
    job.let_go()
    assert threads() == before


def test_a_compaction_waits_after_its_flush_and_then_comes(job: Job) -> None:
    job.ask(delay_ms=DELAY_MS)
    until(lambda: max(job.level0().values()) < THRESHOLD)
    until(lambda: set(job.triggers().values()) == {CEILING})
    began_us = time.time_ns() // 1000
    for _ in range(THRESHOLD):
        job.batches(1)
        # The next batch begins when nothing waits any more: it would end the wait.
        until(lambda: max(job.level0().values()) < THRESHOLD)
    waited_us = until(lambda: job.waited_us(began_us))

    assert min(waited_us) >= DELAY_MS * 1000
    until(lambda: set(job.triggers().values()) == {CEILING})
    job.let_go()
    bring_back(job)


def test_it_withdraws_itself_when_compaction_falls_behind(job: Job) -> None:
    job.ask(thresholds=True, seed=SEED, spread=4)
    partition, stuck = next((each, db) for each, db in job.databases().items() if each in (1, 2, 3))
    disable(job, stuck, True)
    job.batches(CEILING - job.level0()[partition])

    assert f"partition {partition} has {CEILING} files at level 0" in job.refused()
    until(lambda: job.triggers()[partition] == THRESHOLD)
    disable(job, stuck, False)
    until(lambda: job.level0()[partition] < THRESHOLD)
    job.let_go()


def disable(job: Job, database: Any, disabled: bool) -> None:
    """RocksDB's own compaction, as if it could not keep up."""
    jvm: Any = job.spark.sparkContext._jvm
    options = jvm.org.rocksdb.MutableColumnFamilyOptions.builder()
    database.setOptions(options.setDisableAutoCompactions(disabled).build())

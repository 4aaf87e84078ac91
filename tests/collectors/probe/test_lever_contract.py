"""What every lever owes the job, on one running query that has state, a pool and Spark's options.

Whatever it holds: *off* restores what was there before, a lease that ends does the same, and what
does not fit is refused and changes nothing. A lever that cannot act on this job says why, and
changes nothing either.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors.formats.asked import State
from collectors.formats.control import Value, Wanted
from dashboard.testing.stack import RedisServer
from techniques.orders import (
    ECHO,
    EXECUTOR_TOTAL,
    FAIR_SHARE,
    LEVERS,
    POOL,
    SPARK_CONF,
    STATE_PLACEMENT,
    STATE_STORES,
    TASK_COPIES,
)
from techniques.pool import control, pooled
from techniques.pool.settings import SETTINGS
from tests.collectors.conftest import probe, spark_session, stores
from tests.collectors.control_client import Operator, held_until
from tests.collectors.frames import arrived
from tests.collectors.stateful_job import PROVIDERS
from tests.waiting import until

pytestmark = pytest.mark.spark

JOB = "tests.held"
LEASE_MS = 4_000
IN_TESTS = ("copied", "echo", "live_conf", "placed", "pool_policy", "sized")
TECHNIQUES = ",".join(f"tests.techniques.{name}" for name in IN_TESTS)


def unchanged(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


@dataclass(frozen=True)
class Case:
    """A technique that uses the lever, what it asks, and the thing itself as it is now. `refused`:
    why a Spark of one host cannot hold it; `tests/cluster` has what it does on several."""

    technique: str
    settings: dict[str, Value]
    garbage: dict[str, Value]
    now: Callable[[SparkSession], object]
    changes: bool = True
    refused: str = ""


def triggers(spark: SparkSession) -> dict[Any, int]:
    """As RocksDB itself says, of the databases that are open."""
    return {
        store.id().partition(): database.getOptions().level0FileNumCompactionTrigger()
        for store in stores(spark)
        if (database := store.database()) is not None
    }


def options(spark: SparkSession) -> dict[str, str]:
    said: Any = spark.sparkContext._jsc.sc().getConf().getAll()
    return {each._1(): each._2() for each in said}


def steering(spark: SparkSession) -> tuple[int, ...]:
    """The number of the pool's policy, and its settings; nothing without a pool."""
    pool = control.running(spark.sparkContext.applicationId, "unchanged")
    if pool is None:
        return ()
    page = pool.page()
    try:
        return page.control[1], *map(page.setting, range(len(SETTINGS)))
    finally:
        page.close()


def copying(spark: SparkSession) -> bool:
    """Whether the thread that looks for late tasks lives."""
    jvm: Any = spark.sparkContext._jvm
    return any(each.getName() == "curtail-copies" for each in jvm.Thread.getAllStackTraces())


def places(spark: SparkSession) -> dict[Any, Any]:
    """The provider of each state store that is loaded: one that moved would be another."""
    return {store.id().partition(): store.provider().hashCode() for store in stores(spark)}


def sharing(spark: SparkSession) -> tuple[object, dict[str, int]]:
    """The pool of the query's jobs, and the weight of each pool of Spark's fair scheduler."""
    jvm: Any = spark.sparkContext._jvm
    query = spark.streams.active[0]
    found = probe(spark).RunningQuery.find(query.id, query.runId).get()
    sc = spark.sparkContext._jsc.sc()
    own = jvm.org.apache.spark.curtail.ThreadProperties.of(sc, found.thread()).get()
    pools = sc.getAllPools()
    each = [pools.apply(at) for at in range(pools.size())]
    weights = {one.name(): one.weight() for one in each}
    return own.getProperty("spark.scheduler.pool"), weights


def executors(spark: SparkSession) -> list[str]:
    ids: Any = spark.sparkContext._jsc.sc().getExecutorIds()
    return [ids.apply(at) for at in range(ids.size())]


CASES = {
    ECHO: Case("echo", {"word": "hello"}, {"word": 1}, lambda _spark: None, changes=False),
    STATE_STORES: Case(
        "shadowsync", {"thresholds": True, "spread": 8, "seed": 3}, {"spread": "x"}, triggers
    ),
    SPARK_CONF: Case("live_conf", {"factor": 2.5}, {"factor": 11}, options),
    POOL: Case(
        "pool_policy",
        {"policy": "fewest-queued", "settings": {"replay": 1, "replay_budget": 700}},
        {"policy": "telepathy"},
        steering,
    ),
    TASK_COPIES: Case(
        "copied",
        {"timeouts_ms": {"0": 1}, "costs_ms": {"0": 1}, "budget_percent": 5.0},
        {"timeouts_ms": {"0": 1}, "costs_ms": {"0": 1}, "budget_percent": 101},
        copying,
        changes=False,
        refused="a local master has one host",
    ),
    FAIR_SHARE: Case("sized", {"share": 30, "min_share": 1}, {"share": 0}, sharing),
    # `tests/cluster/test_moves.py` has what it does; it restores nothing either.
    EXECUTOR_TOTAL: Case(
        "sized",
        {"executors": 2},
        {"executors": 0},
        executors,
        refused="a local master has no executors",
    ),
    # Needs executors to move state between. It restores nothing, by design: the way back costs as
    # much as the way there. `tests/cluster/test_moves.py` holds it to that.
    STATE_PLACEMENT: Case(
        "placed",
        {"places": {"0": "driver"}},
        {"places": 1},
        places,
        refused="with a local master all state is in one process",
    ),
}
every_lever = pytest.mark.parametrize("lever", LEVERS)
every_lever_that_acts_here = pytest.mark.parametrize(
    "lever", [lever for lever in LEVERS if not CASES[lever].refused]
)
every_other_lever = pytest.mark.parametrize(
    "lever", [lever for lever in LEVERS if CASES[lever].refused]
)


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = {
        "spark.curtail.techniques": TECHNIQUES,
        "spark.scheduler.mode": "FAIR",
        "spark.pyspark.python": sys.executable,
        "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}RocksDBStateStoreProvider",
    }
    with spark_session(module_redis.url, **settings) as session:
        (
            session.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", 20)
            .load()
            .transform(pooled(unchanged, "timestamp timestamp, value long", instances=2))
            .groupBy(F.col("value") % 7)
            .count()
            .writeStream.queryName("held")
            .format("noop")
            .outputMode("update")
            .option("checkpointLocation", str(tmp_path_factory.mktemp("held")))
            .trigger(processingTime="300 milliseconds")
            .start()
        )
        until(lambda: any(frame.pools for frame in arrived(module_redis, JOB)), timeout_s=120)
        until(lambda: len(triggers(session)) == 2, timeout_s=120)
        yield session


class Asking:
    def __init__(self, server: RedisServer) -> None:
        self._operator = Operator(server, JOB)
        asked = self._operator.newest().asked
        self._version = asked.version if asked else 0

    @contextmanager
    def acting(self, case: Case) -> Iterator[None]:
        state = State.REFUSED if case.refused else State.APPLIED
        assert case.refused in self.until_it_is(state, case.technique, case.settings)
        yield

    def until_it_is(self, state: State, technique: str, settings: dict[str, Value]) -> str:
        self._version += 1
        wanted = Wanted("act", self._version, LEASE_MS, settings)
        held_until(
            lambda: (
                [(each.version, each.state) for each in self._operator.states()]
                == [(self._version, state)]
            ),
            lambda: self._operator.ask(self._version, **{technique: wanted}),
        )
        return self._operator.states()[0].because

    def off(self) -> None:
        self._version += 1
        self._operator.ask(self._version)
        until(lambda: self._operator.all_let_go(self._version), timeout_s=60)

    def is_settled(self) -> bool:
        return self._operator.all_let_go(self._version)


@pytest.fixture
def asking(spark: SparkSession, module_redis: RedisServer) -> Asking:
    return Asking(module_redis)


def test_every_lever_has_a_case() -> None:
    assert set(CASES) == set(LEVERS)


@every_lever_that_acts_here
def test_off_restores_what_was_there_before(
    lever: str, spark: SparkSession, asking: Asking
) -> None:
    case = CASES[lever]
    before = case.now(spark)
    with asking.acting(case):
        assert (case.now(spark) != before) is case.changes

    asking.off()
    until(lambda: case.now(spark) == before)


def test_a_query_with_a_share_of_thirty_percent_runs_in_a_pool_of_that_weight(
    spark: SparkSession, asking: Asking
) -> None:
    scheduler: Any = spark.sparkContext._jsc.sc()
    until(lambda: sharing(spark)[1], timeout_s=60)
    # One other pool, of weight 1, divides the other seventy.
    name = f"curtail-{spark.streams.active[0].runId}"
    with asking.acting(CASES[FAIR_SHARE]):
        assert sharing(spark) == (name, {"default": 70, name: 30})
        own = scheduler.getPoolForName(name).get()
        assert own.minShare() == 1
        until(lambda: own.runningTasks() or not own.schedulableQueue().isEmpty(), timeout_s=60)
    asking.off()
    until(lambda: sharing(spark) == (None, {"default": 1}))


@every_lever_that_acts_here
def test_a_lease_that_ends_restores_it_too(lever: str, spark: SparkSession, asking: Asking) -> None:
    case = CASES[lever]
    before = case.now(spark)
    with asking.acting(case):
        pass

    # Nobody renews it from here on.
    until(lambda: case.now(spark) == before)
    until(asking.is_settled)


@every_other_lever
def test_a_lever_that_cannot_act_here_says_why_and_changes_nothing(
    lever: str, spark: SparkSession, asking: Asking
) -> None:
    case = CASES[lever]
    before = case.now(spark)
    because = asking.until_it_is(State.REFUSED, case.technique, case.settings)

    assert case.refused in because
    assert case.now(spark) == before
    asking.off()


@every_lever
def test_garbage_is_refused_and_changes_nothing(
    lever: str, spark: SparkSession, asking: Asking
) -> None:
    case = CASES[lever]
    before = case.now(spark)
    because = asking.until_it_is(State.REFUSED, case.technique, case.garbage)

    assert "do not fit" in because
    assert case.now(spark) == before
    asking.off()

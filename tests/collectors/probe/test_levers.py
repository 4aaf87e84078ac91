"""Orders to a running job and its answers, on a real Spark, through a real Redis."""

import json
import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from redis import Redis

from collectors.formats import control, keys
from collectors.formats.asked import Applied, State
from collectors.formats.control import Wanted
from dashboard.testing.stack import RedisServer
from tests.collectors.conftest import probe, spark_session
from tests.collectors.control_client import Operator, held_until
from tests.collectors.frames import arrived
from tests.waiting import until

pytestmark = pytest.mark.spark

JOB = "tests.steered"
LEASE_MS = 4_000


@pytest.fixture(scope="module")
def steered(
    module_redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    # By an option: the environment is that of a JVM that an earlier module may have started.
    options = {"spark.curtail.techniques": "tests.techniques.echo"}
    with spark_session(module_redis.url, **options) as spark:
        (
            spark.readStream.format("rate-micro-batch")
            .option("rowsPerBatch", 10)
            .load()
            .writeStream.queryName("steered")
            .format("noop")
            .option("checkpointLocation", str(tmp_path_factory.mktemp("steered")))
            .trigger(processingTime="200 milliseconds")
            .start()
        )
        until(lambda: arrived(module_redis, JOB), timeout_s=60)
        yield spark


@pytest.fixture
def operator(module_redis: RedisServer) -> Operator:
    return Operator(module_redis, JOB)


def echo(version: int, **settings: control.Scalar) -> Wanted:
    return Wanted("act", version, LEASE_MS, {"word": "hello", **settings})


def test_a_switch_reaches_the_running_job_and_its_frames_say_so(
    steered: SparkSession, operator: Operator
) -> None:
    began_s = time.monotonic()
    expected = [Applied("echo", "act", State.APPLIED, 1)]
    held_until(lambda: operator.states() == expected, lambda: operator.ask(1, echo=echo(1)))
    assert time.monotonic() - began_s < 15

    held_until(lambda: operator.states() == [], lambda: operator.ask(2))
    until(lambda: operator.newest().asked is not None and operator.newest().asked.settled)  # type: ignore[union-attr]


def test_what_the_probe_cannot_do_is_refused_with_its_reason(
    steered: SparkSession, operator: Operator
) -> None:
    refused = Applied("echo", "act", State.REFUSED, 3, "driver: it was told to refuse")
    held_until(
        lambda: operator.states() == [refused],
        lambda: operator.ask(3, echo=echo(3, refuse=True)),
    )


def test_a_server_that_goes_away_leaves_the_job_as_its_owner_wrote_it(
    steered: SparkSession, operator: Operator
) -> None:
    def states() -> list[State]:
        return [each.state for each in operator.states()]

    held_until(lambda: states() == [State.APPLIED], lambda: operator.ask(4, echo=echo(4)))

    until(lambda: states() == [State.LAPSED])
    until(lambda: operator.newest().asked.settled)  # type: ignore[union-attr]


@pytest.mark.parametrize(("told_ms", "holds_ms"), [(1_500, 1_500), (2**52, 120_000)])
def test_an_executor_lets_go_after_the_lease_that_the_edition_has(
    steered: SparkSession, told_ms: int, holds_ms: int
) -> None:
    edition = json.dumps({"edition": 7, "lease_ms": told_ms, "orders": []}).encode()
    held = probe(steered).HeldEdition()
    held.heard(0)
    held.take(probe(steered).Control.read(bytearray(edition)))

    assert held.inForce(holds_ms * 1_000_000).number() == 7
    assert held.inForce((holds_ms + 1) * 1_000_000).number() == 0
    assert held.number() == 0


def test_a_document_that_cannot_be_read_is_counted_and_changes_nothing(
    steered: SparkSession, operator: Operator, module_redis: RedisServer
) -> None:
    before = operator.newest().health.unreadable_messages
    Redis.from_url(module_redis.url).set(keys.control(JOB), b"garbage")

    until(lambda: operator.newest().health.unreadable_messages > before)
    assert operator.states()

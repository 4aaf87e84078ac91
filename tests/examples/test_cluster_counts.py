"""The cluster example: its options, and what it counts and scores."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from dashboard.testing.stack import redis_server
from examples import cluster_counts
from tests.collectors.conftest import spark_session


def test_every_executor_has_one_core_and_spark_waits_for_all() -> None:
    conf = cluster_counts.conf(cluster_counts.arguments().parse_args(["--hosts", "5"]))
    assert (conf["spark.executor.cores"], conf["spark.cores.max"]) == ("1", "5")
    assert conf["spark.scheduler.minRegisteredResourcesRatio"] == "1.0"


@pytest.mark.parametrize(("words", "said"), [((), "false"), (("--speculation",), "true")])
def test_spark_s_own_speculation_is_off_unless_asked_for(words: tuple[str, ...], said: str) -> None:
    options = cluster_counts.arguments().parse_args(words)
    assert cluster_counts.conf(options)["spark.speculation"] == said


def test_it_has_more_state_partitions_than_hosts_so_that_some_can_move() -> None:
    options = cluster_counts.arguments().parse_args([])
    assert options.partitions >= 3 * options.hosts
    assert cluster_counts.mode(options) == "update"


def test_steps_that_are_no_number_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cluster_counts.arguments().parse_args(["--steps", "0"])
    assert "0 is not a positive number" in capsys.readouterr().err


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with redis_server() as redis, spark_session(redis.url) as session:
        yield session


@pytest.mark.spark
def test_keys_are_counted_and_each_has_a_score_that_depends_on_key_and_steps(
    spark: SparkSession,
) -> None:
    noon = datetime(2026, 11, 18, 12)
    events = spark.createDataFrame(
        [(noon, 1), (noon, 2), (noon, 1)], "event_time timestamp, key long"
    )
    counted = cluster_counts.counts(events)
    rows = {row.key: row for row in cluster_counts.scored(counted, 10).collect()}
    assert {key: row.events for key, row in rows.items()} == {1: 2, 2: 1}
    assert rows[1].score != rows[2].score
    longer = {row.key: row.score for row in cluster_counts.scored(counted, 11).collect()}
    assert longer[1] != rows[1].score

"""A running job's ShadowSync is found by the worker; without the fault there is none to find.

It needs the machine to itself: another job beside it is a cause of latency as well.
"""

import argparse
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession
from redis import Redis

from collectors import keys
from dashboard.testing.stack import Stack, stack
from examples import session as example
from examples import traffic_jam
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.quiet]

SHADOWSYNC = {"scheduled_shadowsync", "statistical_shadowsync"}
# The fleet registers, the virtual machine warms up, and the second recurrence is 12 s after that.
CALM_WINDOWS, PATIENCE_S = 20 * 20, 180


@pytest.fixture(scope="module")
def found() -> Iterator[Stack]:
    with stack() as started:
        yield started


@pytest.fixture(scope="module")
def spark(found: Stack) -> Iterator[SparkSession]:
    session = example.session(traffic_jam.NAME, options(found, "calm"))
    yield session
    session.stop()


def options(found: Stack, setting: str) -> argparse.Namespace:
    words = ["--redis", found.redis.url, "--setting", setting]
    return traffic_jam.arguments().parse_args(words)


@contextmanager
def running(spark: SparkSession, found: Stack, setting: str) -> Iterator[str]:
    """The job's id, while it runs in this setting."""
    query = traffic_jam.start(spark, options(found, setting), name=setting)
    try:
        yield f"{traffic_jam.NAME}.{setting}"
    finally:
        example.stop_between_batches(query)


def windows(found: Stack, job_id: str) -> int:
    client: Any = Redis.from_url(found.redis.url)
    with closing(client):
        return int(client.xlen(keys.frames(job_id).key))


def kinds(found: Stack, job_id: str) -> set[str]:
    with closing(sqlite3.connect(found.data_dir / "curtail.sqlite3")) as database:
        asked = "SELECT kind FROM dashboard_incident WHERE job_id = ?"
        return {kind for (kind,) in database.execute(asked, (job_id,))}


def test_without_the_fault_nothing_is_found_and_with_it_the_right_kind(
    spark: SparkSession, found: Stack
) -> None:
    # Calm first: the machine has warmed up when the fault comes.
    with running(spark, found, "calm") as job_id:
        until(lambda: windows(found, job_id) >= CALM_WINDOWS, timeout_s=PATIENCE_S, every_s=0.5)
        assert not SHADOWSYNC & kinds(found, job_id)
    with running(spark, found, "statistical") as job_id:
        until(lambda: bool(SHADOWSYNC & kinds(found, job_id)), timeout_s=PATIENCE_S, every_s=0.5)
        assert SHADOWSYNC & kinds(found, job_id) == {"statistical_shadowsync"}

"""The levers for shares and executors, without a query: their arithmetic, and what they refuse.

What they do to running queries is in `test_lever_contract.py` and in `tests/cluster/test_moves.py`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.collectors.conftest import probe

pytestmark = pytest.mark.spark


def scala(spark: SparkSession, values: Sequence[object]) -> Any:
    jvm: Any = spark.sparkContext._jvm
    listed = jvm.java.util.ArrayList()
    for value in values:
        listed.add(value)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toSeq()


def refused(spark: SparkSession, lever: Any, **values: Any) -> dict[int, str]:
    orders = [
        {
            "number": 1,
            "lever": lever.name(),
            "to": {"place": "driver"},
            "query": "00000000-0000-0000-0000-000000000001",
            "run": "00000000-0000-0000-0000-000000000002",
            "values": values,
        }
    ]
    document = json.dumps({"edition": 1, "lease_ms": 9_000, "orders": orders}).encode()
    levers = getattr(getattr(probe(spark), "Levers$"), "MODULE$")
    found = lever.hold(levers.read(probe(spark).Edition(1, 9_000, document))).iterator()
    said = {}
    while found.hasNext():
        pair = found.next()
        said[pair._1()] = pair._2()
    return said


@pytest.fixture(scope="module")
def levers(spark: SparkSession) -> Iterator[dict[str, Any]]:
    """Of a driver that knows its context, as a plugin's would."""
    jvm: Any = spark.sparkContext._jvm
    driver = getattr(getattr(probe(spark), "Driver$"), "MODULE$")
    before = driver.context()
    some = getattr(getattr(jvm, "scala.Some$"), "MODULE$")
    getattr(driver, "context_$eq")(some.apply(spark.sparkContext._jsc.sc()))
    made = getattr(getattr(probe(spark), "Plugin$"), "MODULE$").levers()
    yield {made.apply(at).name(): made.apply(at) for at in range(made.size())}
    getattr(driver, "context_$eq")(before)


def test_a_fifo_scheduler_is_refused_with_the_line_to_copy(
    spark: SparkSession, levers: dict[str, Any]
) -> None:
    said = refused(spark, levers["fair-share"], share=30)
    assert said[1].startswith("Spark schedules FIFO, which knows no shares")
    assert said[1].endswith("--conf spark.scheduler.mode=FAIR")
    assert levers["fair-share"].settled()


def test_a_local_master_has_no_executors_to_add(
    spark: SparkSession, levers: dict[str, Any]
) -> None:
    assert refused(spark, levers["executors"], executors=2) == {
        1: "a local master has no executors to add or remove"
    }
    assert levers["executors"].settled()


def test_those_that_joined_last_go_first(spark: SparkSession) -> None:
    ids = scala(spark, ["9", "10", "2", "driver"])
    newest = getattr(getattr(probe(spark), "ExecutorsLever$"), "MODULE$").newest
    found = newest(ids, 2)
    assert [found.apply(at) for at in range(found.size())] == ["10", "driver"]
    assert newest(ids, 0).isEmpty()


@given(
    shares=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    others=st.lists(st.integers(1, 50), min_size=1, max_size=4),
)
@settings(deadline=None, max_examples=25)
def test_shares_are_percent_of_all_and_the_others_divide_the_rest_as_before(
    spark: SparkSession, shares: list[int], others: list[int]
) -> None:
    found = probe(spark).FairWeights.of(scala(spark, shares), scala(spark, others))
    own, rest = [found.own(each) for each in shares], [found.other(each) for each in others]
    if sum(shares) < 100:
        assert [100 * each / (sum(own) + sum(rest)) for each in own] == pytest.approx(shares)
    assert [each * others[0] for each in rest] == [rest[0] * each for each in others]
    assert all(each >= 1 for each in own + rest)

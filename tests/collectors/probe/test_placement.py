"""How far a move of a state partition is, and where none is made: without a cluster.

That moves are exact is tested on one, in `tests/cluster/test_moves.py`.
"""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.collectors.conftest import probe

pytestmark = pytest.mark.spark

WORDS = 3


@pytest.fixture
def asked(spark: SparkSession) -> Any:
    """The wish to have partition 4 on executor "2"."""
    package = probe(spark)
    none = getattr(getattr(package, "Move$Asked$"), "MODULE$")
    return package.Move(4, "2", none, 0)


def seen(spark: SparkSession, move: Any, *executors: str, is_alive: bool = True) -> Any:
    jvm: Any = spark.sparkContext._jvm
    at = jvm.scala.jdk.javaapi.CollectionConverters.asScala(jvm.java.util.List.of(*executors))
    return move.seen(at.toSet(), is_alive)


def why(move: Any) -> str:
    said = move.why()
    return str(said.get()) if said.isDefined() else ""


def test_a_partition_that_is_there_already_needs_no_word(spark: SparkSession, asked: Any) -> None:
    assert asked.isOpen()
    assert not seen(spark, asked, "2").isOpen()


def test_all_stores_of_a_partition_have_to_be_there(spark: SparkSession, asked: Any) -> None:
    assert seen(spark, asked, "1", "2").isOpen()


def test_a_store_that_no_task_has_opened_is_waited_for(spark: SparkSession, asked: Any) -> None:
    assert seen(spark, asked).isOpen()


def test_the_batch_after_the_one_that_ran_meanwhile_shows_whether_it_moved(asked: Any) -> None:
    told = asked.told(7)
    assert [told.isDue(completed) for completed in (7, 8, 9)] == [False, False, True]


def test_after_three_words_it_is_refused_with_where_it_ran(spark: SparkSession, asked: Any) -> None:
    move = asked
    for word in range(WORDS):
        assert why(move) == ""
        move = seen(spark, move.told(10 * word), "1")
    assert not move.isOpen()
    assert "ran partition 4 on executor 1 and not on 2" in why(move)


def test_a_partition_that_spark_took_away_is_asked_for_again(
    spark: SparkSession, asked: Any
) -> None:
    there = seen(spark, asked.told(0), "2")
    assert seen(spark, there, "1").isOpen()


def test_a_wish_for_an_executor_that_is_gone_is_dropped_without_a_refusal(
    spark: SparkSession, asked: Any
) -> None:
    dropped = seen(spark, asked.told(0), "1", is_alive=False)
    assert not dropped.isOpen()
    assert not dropped.isDue(100)
    assert why(dropped) == ""


@pytest.mark.parametrize(
    ("is_local", "adds_and_removes", "executors", "because"),
    [
        (True, False, 1, "local master"),
        (False, True, 3, "dynamic allocation"),
        (False, False, 1, "fewer than two executors"),
        (False, False, 2, ""),
    ],
)
def test_it_says_where_it_cannot_act(
    spark: SparkSession, is_local: bool, adds_and_removes: bool, executors: int, because: str
) -> None:
    said = probe(spark).PlacementLever.whyNotIn(is_local, adds_and_removes, executors)
    assert because in said.toString()
    assert said.isDefined() is bool(because)

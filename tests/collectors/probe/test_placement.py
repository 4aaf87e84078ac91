"""How far a move of a state partition is, and where none is made: without a cluster, and with a
Spark that is not as it should be.

That moves are exact is tested on one, in `tests/cluster/test_moves.py`.
"""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.collectors.conftest import probe
from tests.waiting import until

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


def test_a_spark_without_the_coordinators_messages_is_left_alone_with_the_reason(
    spark: SparkSession, checkpoint: Callable[[str], str]
) -> None:
    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 10)
        .load()
        .groupBy(F.col("value") % 3)
        .count()
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", checkpoint("placed"))
        .trigger(processingTime="500 milliseconds")
        .start()
    )
    jvm: Any = spark.sparkContext._jvm
    coordinator = jvm.org.apache.spark.curtail.StateCoordinator
    of_spark = coordinator.OfSpark()

    def looked_at(messages: Any) -> Any:
        """A wish that was looked at when the query had state and no task."""
        run = probe(spark).PlacedRun(
            spark.sparkContext._jsc.sc(),
            query.id,
            query.runId,
            messages,
        )
        run.wish(jvm.scala.Predef.Map().empty().updated(0, "7"))

        def is_over() -> bool:
            run.look()
            return not run.isOpen()

        until(is_over, timeout_s=120)
        return run

    try:
        # There is no executor 7: Spark's own placement is good enough.
        assert why(looked_at(of_spark)) == ""
        lacks_fields = getattr(jvm.org.apache.spark.curtail, "StateCoordinator$Messages")(
            of_spark.locate(), "java.lang.Object"
        )
        lacks_class = getattr(jvm.org.apache.spark.curtail, "StateCoordinator$Messages")(
            "org.apache.spark.NoSuchMessage", of_spark.report()
        )
        for lacking, named in (
            (lacks_fields, "Object of 4 fields"),
            (lacks_class, "NoSuchMessage"),
        ):
            said = why(looked_at(lacking))
            assert said.startswith("this Spark's state cannot be moved: ")
            assert named in said
    finally:
        query.stop()

"""Which tasks the lever would copy, and when its budget is spent. Time is an argument."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from techniques.orders import TASK_COPIES
from tests.collectors.conftest import probe
from tests.waiting import until

pytestmark = pytest.mark.spark

PLAN = {
    "timeouts_ms": {"0": 100, "1": 500},
    "costs_ms": {"0": 40},
    "budget_percent": 5.0,
    "sink": False,
}
NOW_MS = 1_700_000_000_000
SINK, STATE, TOGETHER = "write to the sink", "checkpointFormatVersion=2", "together"


def plan(spark: SparkSession, **changes: object) -> Any:
    text = bytearray(json.dumps({**PLAN, **changes}).encode())
    read = probe(spark).CopyPlan.read(probe(spark).Json.read(text))
    return read.right().get() if read.isRight() else read.left().get()


def stage(
    spark: SparkSession,
    kind: int = 0,
    *,
    together: bool = False,
    sink: bool = False,
    state: bool = False,
    unique_state: bool = False,
) -> Any:
    traits = getattr(probe(spark), "CopyChoice$Traits")
    return traits(kind, together, sink, state, unique_state)


def attempt(spark: SparkSession, index: int, age_ms: int, alone: bool = True) -> Any:
    jvm: Any = spark.sparkContext._jvm
    return jvm.org.apache.spark.scheduler.curtail.Attempt(index, NOW_MS - age_ms, alone, False)


def late(spark: SparkSession, of_plan: Any, of_stage: Any, *attempts: Any) -> list[int]:
    found = probe(spark).CopyChoice.late(of_plan, of_stage, seq(spark, *attempts), NOW_MS)
    return [found.apply(at).index() for at in range(found.size())]


def seq(spark: SparkSession, *items: Any) -> Any:
    jvm: Any = spark.sparkContext._jvm
    listed = jvm.java.util.ArrayList()
    for each in items:
        listed.add(each)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toSeq()


def left_out(spark: SparkSession, of_plan: Any, of_stage: Any) -> str:
    reason = probe(spark).CopyChoice.leftOut(of_plan, of_stage)
    return str(reason.get()) if reason.isDefined() else ""


def test_tasks_older_than_the_timeout_of_their_kind_are_late_the_oldest_first(
    spark: SparkSession,
) -> None:
    attempts = [attempt(spark, index, age_ms) for index, age_ms in enumerate([100, 101, 600, 99])]

    assert late(spark, plan(spark), stage(spark, 0), *attempts) == [2, 1]
    assert late(spark, plan(spark), stage(spark, 1), *attempts) == [2]
    assert late(spark, plan(spark), stage(spark, 2), *attempts) == []


def test_a_task_that_has_a_copy_gets_no_other(spark: SparkSession) -> None:
    attempts = attempt(spark, 0, 900, alone=False), attempt(spark, 1, 900)

    assert late(spark, plan(spark), stage(spark), *attempts) == [1]


@pytest.mark.parametrize(
    ("traits", "sink", "why"),
    [
        ({}, False, ""),
        ({"sink": True}, False, SINK),
        ({"sink": True}, True, ""),
        ({"state": True}, False, STATE),
        ({"state": True, "unique_state": True}, False, ""),
        ({"state": True, "sink": True}, True, STATE),
        ({"together": True}, True, TOGETHER),
    ],
)
def test_stages_whose_tasks_may_not_run_twice_are_left_out(
    spark: SparkSession, traits: dict[str, bool], sink: bool, why: str
) -> None:
    asked, of = plan(spark, sink=sink), stage(spark, **traits)

    assert why in left_out(spark, asked, of)
    assert bool(left_out(spark, asked, of)) is bool(why)
    assert late(spark, asked, of, attempt(spark, 0, 900)) == ([] if why else [0])


def test_reasons_fit_into_what_the_driver_reports(spark: SparkSession) -> None:
    reason = left_out(spark, plan(spark), stage(spark, state=True))

    assert len(f"stage 999 gets no copies: {reason}") <= 200


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"timeouts_ms": {}}, "no kind"),
        ({"timeouts_ms": 5}, "no map"),
        ({"timeouts_ms": {"x": 5}}, "timeouts_ms"),
        ({"timeouts_ms": {"-1": 5}}, "timeouts_ms"),
        ({"timeouts_ms": {"0": 0}}, "timeouts_ms"),
        ({"timeouts_ms": {"0": "soon"}}, "timeouts_ms"),
        ({"costs_ms": {"0": 1e9}}, "costs_ms"),
        ({"budget_percent": 101}, "budget_percent"),
        ({"budget_percent": "all"}, "budget_percent"),
    ],
)
def test_an_order_that_makes_no_sense_says_what_of_it(
    spark: SparkSession, changes: dict[str, object], why: str
) -> None:
    assert why in plan(spark, **changes)


def test_a_copy_of_unknown_cost_is_expected_to_take_the_timeout(spark: SparkSession) -> None:
    assert [plan(spark).costMs(kind) for kind in (0, 1)] == [40, 500]


def test_where_there_can_be_no_copies_orders_are_refused(spark: SparkSession) -> None:
    conf: Any = spark.sparkContext._jsc.sc().conf()

    assert "a local master has one host" in refused(spark)
    conf.set("spark.speculation", "true")
    try:
        assert "Spark makes copies of its own" in refused(spark)
    finally:
        conf.remove("spark.speculation")


def refused(spark: SparkSession) -> str:
    """What a lever says that was made now."""
    levers = probe(spark).Plugin.levers()
    made = [levers.apply(at) for at in range(levers.size())]
    (lever,) = [each for each in made if each.name() == TASK_COPIES]
    values = probe(spark).Json.read(bytearray(json.dumps(PLAN).encode()))
    driver = probe(spark).Address("driver", "", "", "")
    order = probe(spark).Order(7, TASK_COPIES, driver, "query", "run", values)
    return str(lever.hold(seq(spark, order)).apply(7))


def test_with_a_scheduler_that_is_not_as_expected_no_copy_is_tried_again(
    spark: SparkSession,
) -> None:
    jvm: Any = spark.sparkContext._jvm
    context: Any = spark.sparkContext._jsc.sc()
    # In its place nothing, so that whatever is asked of it fails.
    sets = jvm.org.apache.spark.scheduler.curtail.RunningSets(context, None)
    copier = probe(spark).Copier(sets)
    wanted = seq(spark, probe(spark).CopyOrder("query", "run", plan(spark)))
    copier.want(wanted)
    until(lambda: copier.fault().isDefined())

    assert copier.fault().get().startswith("copies do not work with this Spark: ")
    copier.want(wanted)

    def names() -> list[str]:
        return [each.getName() for each in jvm.Thread.getAllStackTraces()]

    until(lambda: "curtail-copies" not in names())


@pytest.fixture
def budget(spark: SparkSession) -> Any:
    return probe(spark).CopyBudget()


def test_the_first_copy_needs_no_credit_and_the_second_does(budget: Any) -> None:
    assert budget.allows(NOW_MS, 100, 5.0)
    budget.made(NOW_MS, 100)

    assert not budget.allows(NOW_MS, 1, 5.0)
    budget.worked(NOW_MS, 4_000)
    assert budget.allows(NOW_MS, 100, 5.0)
    assert not budget.allows(NOW_MS, 101, 5.0)


def test_a_budget_of_nothing_allows_nothing(budget: Any) -> None:
    budget.worked(NOW_MS, 1_000_000)

    assert not budget.allows(NOW_MS, 1, 0.0)


def test_what_a_copy_really_took_replaces_what_was_expected(budget: Any) -> None:
    copy = budget.made(NOW_MS, 100)
    budget.runs(copy, 70)
    assert budget.spent(NOW_MS) == 100
    budget.runs(copy, 130)
    assert budget.spent(NOW_MS) == 130
    budget.ended(copy, 20)
    assert budget.spent(NOW_MS) == 20


def test_what_is_older_than_a_minute_no_longer_counts(budget: Any) -> None:
    budget.worked(NOW_MS, 5_000)
    budget.worked(NOW_MS + 30_000, 300)
    over, running = budget.made(NOW_MS, 50), budget.made(NOW_MS, 60)
    budget.ended(over, 40)

    assert (budget.worked(NOW_MS + 59_000), budget.spent(NOW_MS + 59_000)) == (5_300, 100)
    assert (budget.worked(NOW_MS + 61_000), budget.spent(NOW_MS + 61_000)) == (300, 60)
    budget.ended(running, 61_000)
    assert budget.spent(NOW_MS + 62_000) == 0
    assert budget.worked(NOW_MS + 91_000) == 0

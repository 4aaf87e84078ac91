"""From settings to one order for the driver, or a reason."""

from collections.abc import Mapping

import pytest

from techniques.orders import (
    COPIES,
    DRIVER,
    PLACEMENT,
    TASK_COPIES,
    ExecutorFacts,
    JobFacts,
    Order,
    Refused,
)
from techniques.schema import Setting
from techniques.task_copies import realizer

TWO_HOSTS = (ExecutorFacts("1", "node-1"), ExecutorFacts("2", "node-2"))
SETTINGS: Mapping[str, Setting] = {
    "timeouts_ms": {"0": 120, "3": 61.5},
    "costs_ms": {"0": 100, "3": 40, "7": 9},
    "budget_percent": 5.0,
    "sink": True,
}


def ordered(job_sink: str = "MemorySink", **settings: Setting) -> Order:
    job = JobFacts("query", "run-2", executors=TWO_HOSTS, sink=job_sink)
    (order,) = realizer.orders({**SETTINGS, **settings}, job)
    return order


def refusal(*executors: ExecutorFacts, **settings: Setting) -> str:
    with pytest.raises(Refused) as refused:
        realizer.orders({**SETTINGS, **settings}, JobFacts("query", "run-2", executors=executors))
    return str(refused.value)


def test_the_driver_is_told_the_timeouts_and_what_copies_cost() -> None:
    values: Mapping[str, Setting] = {
        "timeouts_ms": {"0": 120, "3": 61.5},
        "costs_ms": {"0": 100, "3": 40},
        "budget_percent": 5.0,
        "sink": True,
    }

    assert ordered() == Order(TASK_COPIES, DRIVER, values, (COPIES,))


def test_who_copies_tasks_with_state_claims_its_placement_too() -> None:
    assert ordered(stateful=False).claims == (COPIES,)
    assert ordered(stateful=True).claims == (COPIES, PLACEMENT)


@pytest.mark.parametrize(
    ("sink", "any_sink", "asked", "told"),
    [
        ("MemorySink", False, True, True),
        ("MemorySink", False, False, False),
        ("ForeachBatchSink", False, True, False),
        ("", False, True, False),
        ("ForeachBatchSink", True, True, True),
        ("ForeachBatchSink", True, False, False),
    ],
)
def test_the_sink_of_the_running_query_has_the_last_word(
    sink: str, any_sink: bool, asked: bool, told: bool
) -> None:
    assert ordered(sink, sink=asked, any_sink=any_sink).values["sink"] is told


def test_timeouts_of_this_run_are_taken_and_those_of_another_are_not() -> None:
    assert ordered(run="run-2").values == ordered(run="").values == ordered().values
    assert "an earlier run of the query" in refusal(*TWO_HOSTS, run="run-1")


def test_without_a_second_host_it_is_refused() -> None:
    one_host = (ExecutorFacts("1", "node-1"), ExecutorFacts("2", "node-1"))

    assert "all executors are on node-1" in refusal(*one_host)
    assert "all executors are on node-1" in refusal(*one_host, ExecutorFacts("driver", "node-0"))
    assert "local mode" in refusal(ExecutorFacts("driver", "node-0"))
    assert "no executor is known" in refusal()


def test_where_all_stages_are_left_out_the_refusal_says_why() -> None:
    why = "stage 1, which writes to ForeachBatchSink, is left out: it would run twice"

    said = refusal(*TWO_HOSTS, timeouts_ms={}, left_out={"0": why})

    assert said == f"no stage may be copied: {why}"


def test_what_is_not_by_the_number_of_a_stage_is_refused() -> None:
    assert "number of a stage" in refusal(*TWO_HOSTS, timeouts_ms={"first": 100})
    assert "stage 9" in refusal(*TWO_HOSTS, timeouts_ms={"9": 100})

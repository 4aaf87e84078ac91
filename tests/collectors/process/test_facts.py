from collectors.process.facts import Facts
from techniques.orders import ExecutorFacts

QUERY, RUN = "query-1", "run-1"


def test_an_executor_that_spark_decommissions_is_leaving_until_it_is_gone() -> None:
    facts = Facts()
    for executor_id in ("1", "2"):
        facts.executor(executor_id, f"node-{executor_id}")
    facts.executor_is_leaving("2")

    assert facts.of(QUERY, RUN).executors == (
        ExecutorFacts("1", "node-1"),
        ExecutorFacts("2", "node-2", leaving=True),
    )
    facts.executor_left("2")
    assert facts.of(QUERY, RUN).executors == (ExecutorFacts("1", "node-1"),)


def test_the_sink_is_that_of_the_run_until_it_ends() -> None:
    facts = Facts()
    facts.sink(RUN, "ForeachBatchSink")
    facts.sink("run-2", "MemorySink")

    assert facts.of(QUERY, RUN).sink == "ForeachBatchSink"
    facts.forget(RUN)
    assert facts.of(QUERY, RUN).sink == ""


def test_orders_are_made_anew_only_when_something_changed() -> None:
    facts = Facts()
    facts.executor("1", "node-1")
    versions = [facts.version]
    for _ in range(2):
        facts.executor_is_leaving("1")
        facts.sink(RUN, "ForeachBatchSink")
        facts.partition(RUN, 0, 3, "1")
        versions.append(facts.version)

    assert versions[0] < versions[1] == versions[2]


def test_a_partition_is_where_it_was_last() -> None:
    facts = Facts()
    assert facts.place_of(RUN, 0, 3) is None
    facts.partition(RUN, 0, 3, "1")
    facts.partition(RUN, 0, 3, "2")
    assert facts.place_of(RUN, 0, 3) == "2"

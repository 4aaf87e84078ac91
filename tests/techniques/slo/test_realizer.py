"""From what an objective moves to orders for the levers, and what this job cannot have."""

import pytest

from techniques.orders import (
    DRIVER,
    EXECUTOR_COUNT,
    SHARE,
    JobFacts,
    Order,
    PoolFacts,
    Refused,
    dispatch,
    pool,
    size,
)
from techniques.slo.realizer import orders

JOB = JobFacts(
    "query",
    "run",
    pools=(
        PoolFacts("chain", "a", ("score", "rank"), (0, 0, 1)),
        PoolFacts("chain", "b", ("score", "rank"), (0, 0, 1)),
        PoolFacts("other", "a", ("rank",), (0,)),
    ),
)


def test_each_pool_is_told_of_its_own_operators() -> None:
    assert orders({"instances": {"score": 4}}, JOB) == [
        Order("pool", pool(host, "chain"), {"instances": {"score": 4}}, (size(host, "chain"),))
        for host in ("a", "b")
    ]
    told = {
        (each.to.host, each.to.pool): each.values["instances"]
        for each in orders({"instances": {"score": 4, "rank": 2}}, JOB)
    }
    assert told == {
        ("a", "chain"): {"score": 4, "rank": 2},
        ("b", "chain"): {"score": 4, "rank": 2},
        ("a", "other"): {"rank": 2},
    }


def test_the_size_of_a_pool_is_not_its_dispatch() -> None:
    assert size("a", "chain") != dispatch("a", "chain")


def test_share_and_executors_go_to_the_driver_with_what_is_named() -> None:
    assert orders({"share": 30, "min_share": 1, "executors": 3}, JOB) == [
        Order("fair-share", DRIVER, {"share": 30, "min_share": 1}, (SHARE,)),
        Order("executors", DRIVER, {"executors": 3}, (EXECUTOR_COUNT,)),
    ]
    assert orders({"min_share": 2}, JOB) == [
        Order("fair-share", DRIVER, {"min_share": 2}, (SHARE,))
    ]
    assert orders({}, JOB) == []
    assert orders({"instances": {}}, JOB) == []


def test_what_the_job_does_not_have_is_refused_with_what_it_has() -> None:
    with pytest.raises(Refused, match="no pool of this job has the operator sort; there are rank,"):
        orders({"instances": {"score": 1, "sort": 2}, "share": 5}, JOB)
    with pytest.raises(Refused, match="this job uses no operator pool"):
        orders({"instances": {"score": 1}}, JobFacts("query", "run"))

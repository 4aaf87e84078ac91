import pytest

from techniques.orders import DRIVER, PLACEMENT, ExecutorFacts, JobFacts, Order, Refused
from techniques.state_balancing.realizer import orders


def job(*executors: str) -> JobFacts:
    return JobFacts("query", "run", tuple(ExecutorFacts(each, "host") for each in executors))


def test_the_driver_is_told_all_wishes() -> None:
    places = {"0": "1", "7": "2"}

    assert orders({"places": places}, job("1", "2")) == (
        Order("state-placement", DRIVER, {"places": places}, (PLACEMENT,)),
    )


def test_without_a_wish_it_still_claims_the_placement() -> None:
    (order,) = orders({"places": {}}, job("1", "2"))

    assert order.values == {"places": {}}
    assert order.claims == (PLACEMENT,)


def test_wishes_for_executors_that_are_gone_are_left_out() -> None:
    (order,) = orders({"places": {"0": "1", "7": "9"}}, job("driver", "1", "2"))

    assert order.values == {"places": {"0": "1"}}


def test_what_is_no_partition_is_left_out() -> None:
    (order,) = orders({"places": {"all": "1", "-1": "1", "³": "1", "3": "1"}}, job("1", "2"))

    assert order.values == {"places": {"3": "1"}}


@pytest.mark.parametrize(
    ("executors", "why"),
    [
        (("driver",), "local master"),
        (("1",), "only one executor"),
        (("driver", "1"), "only one executor"),
        ((), "only one executor"),
    ],
)
def test_where_partitions_have_nowhere_to_go_it_is_refused(
    executors: tuple[str, ...], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        orders({"places": {"0": "1"}}, job(*executors))

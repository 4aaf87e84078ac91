"""What the realizers of all techniques on operator pools owe."""

from collections.abc import Callable, Sequence

import pytest

from techniques.orders import JobFacts, Order, PoolFacts, Refused, dispatch, pool
from techniques.pool import settings
from techniques.pool.policies import POLICIES
from techniques.schema import Fields, Number, Settings

JOB = JobFacts(
    "query",
    "run",
    pools=(
        PoolFacts("score", "a", ("score",), (0, 0)),
        PoolFacts("score", "b", ("score",), (0, 0)),
    ),
)


def assert_off_is_all_that_is_left_out(orders: Sequence[Order]) -> None:
    """Each pool gets one order, which claims its dispatch and names only what is to change."""
    for order in orders:
        host, name = order.to.host, order.to.pool
        assert (order.lever, order.to) == ("pool", pool(host, name))
        assert order.claims == (dispatch(host, name),)
        assert set(order.values) <= {"policy", "settings"}
        assert order.values
        assert order.values.get("policy", "round-robin") in POLICIES
        told = order.values.get("settings", {})
        assert isinstance(told, dict)
        for setting, value in told.items():
            settings.checked(setting, value)


def assert_refused_without_a_pool(
    orders: Callable[[Settings, JobFacts], Sequence[Order]], settings: Settings
) -> None:
    with pytest.raises(Refused) as refused:
        orders(settings, JobFacts("query", "run"))
    assert "df.transform(pooled(your_function, schema, instances=8))" in str(refused.value)


def assert_within_the_pools_bounds(schema: Fields) -> None:
    numbers = {name: each for name, each in schema.required.items() if isinstance(each, Number)}
    for name, number in numbers.items():
        settings.checked(name, int(number.low))
        settings.checked(name, int(number.high))

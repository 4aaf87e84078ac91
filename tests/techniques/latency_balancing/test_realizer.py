import pytest

from techniques.latency_balancing import realizer
from techniques.latency_balancing.technique import TECHNIQUE
from techniques.schema import Settings
from tests.techniques.pool.orders import (
    JOB,
    assert_off_is_all_that_is_left_out,
    assert_refused_without_a_pool,
    assert_within_the_pools_bounds,
)

TUNING = {
    "balance_period_ms": 5_000,
    "balance_alpha": 500,
    "balance_threshold": 1_200,
    "balance_unit": 100,
}
SETTINGS: Settings = {"policy": "latency-weighted", **TUNING}


def test_every_pool_of_the_job_is_told_to_weigh() -> None:
    orders = realizer.orders(SETTINGS, JOB)

    assert [each.to.host for each in orders] == ["a", "b"]
    assert all(each.values == {"policy": "latency-weighted", "settings": TUNING} for each in orders)
    assert_off_is_all_that_is_left_out(orders)


@pytest.mark.parametrize("policy", ["power-of-two", "fewest-queued"])
def test_policies_without_weights_need_no_tuning(policy: str) -> None:
    orders = realizer.orders({**SETTINGS, "policy": policy}, JOB)

    assert all(each.values == {"policy": policy} for each in orders)


def test_a_job_without_a_pool_is_refused_with_the_line_that_changes_that() -> None:
    assert_refused_without_a_pool(realizer.orders, SETTINGS)


def test_its_settings_are_within_what_a_pool_takes() -> None:
    assert_within_the_pools_bounds(TECHNIQUE.settings)

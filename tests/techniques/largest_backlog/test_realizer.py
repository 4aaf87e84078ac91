import pytest

from techniques.largest_backlog import realizer
from techniques.largest_backlog.technique import TECHNIQUE
from techniques.schema import Settings
from tests.techniques.pool.orders import (
    JOB,
    assert_off_is_all_that_is_left_out,
    assert_refused_without_a_pool,
    assert_within_the_pools_bounds,
)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ({"tau_ms": 80, "shared": False}, {"settings": {"tau_ms": 80}}),
        ({"tau_ms": 80, "shared": True}, {"policy": "shared-queue", "settings": {"tau_ms": 80}}),
    ],
)
def test_every_pool_of_the_job_is_told_to_take_turns(settings: Settings, values: Settings) -> None:
    orders = realizer.orders(settings, JOB)

    assert [each.to.host for each in orders] == ["a", "b"]
    assert all(each.values == values for each in orders)
    assert_off_is_all_that_is_left_out(orders)


def test_a_job_without_a_pool_is_refused_with_the_line_that_changes_that() -> None:
    assert_refused_without_a_pool(realizer.orders, {"tau_ms": 80, "shared": False})


def test_its_settings_are_within_what_a_pool_takes() -> None:
    assert_within_the_pools_bounds(TECHNIQUE.settings)

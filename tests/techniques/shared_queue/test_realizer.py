from techniques.shared_queue import realizer
from tests.techniques.pool.orders import (
    JOB,
    assert_off_is_all_that_is_left_out,
    assert_refused_without_a_pool,
)

SETTINGS = {"policy": "shared-queue"}


def test_every_pool_of_the_job_is_told_to_share() -> None:
    orders = realizer.orders(SETTINGS, JOB)

    assert [each.to.host for each in orders] == ["a", "b"]
    assert all(each.values == {"policy": "shared-queue"} for each in orders)
    assert_off_is_all_that_is_left_out(orders)


def test_a_job_without_a_pool_is_refused_with_the_line_that_changes_that() -> None:
    assert_refused_without_a_pool(realizer.orders, SETTINGS)

from techniques.adaptive_timeout import realizer
from techniques.adaptive_timeout.technique import TECHNIQUE
from techniques.schema import Number
from tests.techniques.pool.orders import (
    JOB,
    assert_off_is_all_that_is_left_out,
    assert_refused_without_a_pool,
    assert_within_the_pools_bounds,
)

SETTINGS = {"replay": 1, "replay_budget": 500, "replay_period_ms": 1_000}


def test_every_pool_of_the_job_is_told_to_replay() -> None:
    orders = realizer.orders(SETTINGS, JOB)

    assert [(each.to.host, each.to.pool) for each in orders] == [("a", "score"), ("b", "score")]
    assert all(each.values == {"settings": SETTINGS} for each in orders)
    assert_off_is_all_that_is_left_out(orders)


def test_a_job_without_a_pool_is_refused_with_the_line_that_changes_that() -> None:
    assert_refused_without_a_pool(realizer.orders, SETTINGS)


def test_its_settings_are_within_what_a_pool_takes() -> None:
    assert_within_the_pools_bounds(TECHNIQUE.settings)
    # Neither off nor blind: these are no settings of a decision.
    assert TECHNIQUE.settings.required["replay"] == Number(1, 2, whole=True)

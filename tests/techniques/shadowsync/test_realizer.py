"""From settings to the order that executors hold."""

import pytest

from techniques.orders import COMPACTION, EXECUTORS, JobFacts, Order, Refused
from techniques.registry import Registry
from techniques.schema import Settings
from techniques.shadowsync import realizer

JOB = JobFacts("query", "run")
ALL = {
    "thresholds": True,
    "spread": 4,
    "seed": 7,
    "threads": True,
    "compaction_threads": 2,
    "delay_ms": 64,
    "snapshots": True,
}


def order_of(settings: Settings) -> Order:
    (order,) = realizer.orders(settings, JOB)
    return order


def test_the_registry_has_it_with_all_its_parts() -> None:
    registry = Registry()

    assert "shadowsync" in registry.techniques
    assert registry.realizer("shadowsync").orders(ALL, JOB)


def test_executors_are_told_what_to_hold() -> None:
    order = order_of(ALL)

    assert (order.lever, order.to) == ("state-stores", EXECUTORS)
    assert order.claims == (COMPACTION,)
    assert order.values == {
        "seed": 7,
        "spread": 4,
        "delay_ms": 64,
        "base": 0,
        "in_step": False,
        "flush_on_all_cores": True,
        "compaction_threads": 2,
        "snapshots": True,
    }


@pytest.mark.parametrize(("lowest", "base"), [(4, 0), (7, 7)])
def test_the_lowest_threshold_is_told_where_it_is_not_sparks_own(lowest: int, base: int) -> None:
    order = order_of({**ALL, "lowest": lowest, "spread": 8})
    assert (order.values["base"], order.values["spread"]) == (base, 8)

    without = order_of({**ALL, "lowest": lowest, "thresholds": False})
    assert without.values["base"] == 0


def test_without_thresholds_every_store_keeps_its_own() -> None:
    order = order_of({**ALL, "thresholds": False})

    assert order.values["spread"] == 1


@pytest.mark.parametrize("settings", [{"base": 5}, {"in_step": True}])
def test_a_threshold_of_choice_and_stores_in_step_are_orders_too(
    settings: dict[str, int | bool],
) -> None:
    order = order_of(settings)

    assert order.values.items() >= settings.items()
    assert order.values["spread"] == 1


def test_settings_that_switch_nothing_on_are_refused() -> None:
    with pytest.raises(Refused, match="none of its parts"):
        order_of({"thresholds": False, "threads": False, "delay_ms": 0})

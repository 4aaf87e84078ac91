"""What every technique owes whoever runs it, those of tests included."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import control
from collectors.formats.control import Control, Wanted
from collectors.spark.build import PROBE_DIR
from techniques.model import Decision, Mode, Past, Scope
from techniques.options import checked
from techniques.orders import (
    LEVERS,
    Address,
    ExecutorFacts,
    JobFacts,
    Order,
    Place,
    PoolFacts,
    Refused,
)
from techniques.registry import ClusterController, Controller, Picture, Realizer, Registry
from techniques.schema import SettingFault
from techniques.view import View
from tests.techniques.generated import fitting, garbage

IN_TESTS = (
    "cluster_share",
    "copied",
    "echo",
    "live_conf",
    "placed",
    "pool_policy",
    "raising",
    "sized",
    "stepping",
)
REGISTRY = Registry([f"tests.techniques.{name}" for name in IN_TESTS])
NAMES = sorted(REGISTRY.techniques)
every_technique = pytest.mark.parametrize("name", NAMES)

JOB = JobFacts(
    query_id="query",
    run_id="run",
    executors=(ExecutorFacts("1", "a"), ExecutorFacts("2", "b")),
    pools=(PoolFacts("score", "a", ("score",), (0, 0)),),
    partitions={(0, 0): "1", (0, 1): "2"},
)
# Which words an address of each place has.
PLACES = {
    Place.DRIVER: (),
    Place.EXECUTORS: (),
    Place.EXECUTOR: ("executor",),
    Place.POOL: ("host", "pool"),
}


def test_the_probe_has_the_levers_that_techniques_name() -> None:
    named = re.compile(r'extends Lever\b.*?override val name = "([\w-]+)"', re.DOTALL)
    found = [
        each for file in PROBE_DIR.rglob("*.scala") for each in named.findall(file.read_text())
    ]

    assert sorted(found) == sorted(LEVERS)


def same_parameters(function: Callable[..., object], of_protocol: Callable[..., object]) -> bool:
    """A Protocol's method has `self` before what a module's function takes."""
    asked = list(signature(of_protocol).parameters)[1:]
    return list(signature(function).parameters) == asked


@every_technique
def test_its_modules_take_what_the_protocols_say(name: str) -> None:
    controller, picture = REGISTRY.controller(name), REGISTRY.picture(name)
    assert same_parameters(controller.conditions, Controller.conditions)
    if REGISTRY.techniques[name].scope == Scope.CLUSTER:
        decide_all = REGISTRY.cluster_controller(name).decide_all
        assert same_parameters(decide_all, ClusterController.decide_all)
    else:
        assert same_parameters(controller.decide, Controller.decide)
    assert same_parameters(REGISTRY.realizer(name).orders, Realizer.orders)
    assert picture is None or same_parameters(picture.figure, Picture.figure)


@every_technique
@pytest.mark.parametrize("windows", [0, 1, 600])
def test_of_a_job_of_which_little_is_known_it_says_something_that_fits(
    name: str, windows: int
) -> None:
    view = quiet_view(windows)
    technique = REGISTRY.techniques[name]

    assert REGISTRY.controller(name).conditions(view).why
    for decision in decisions(name, view):
        technique.settings.check(decision.settings)
        assert decision.reason
        # As JSON has it, for both are kept and sent so.
        kept = [dict(decision.settings), dict(decision.memory)]
        assert json.loads(json.dumps(kept)) == kept
    if picture := REGISTRY.picture(name):
        assert picture.figure(view, None) is not None


# One is there to raise something else.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "raising"])
@given(data=st.data())
def test_settings_that_fit_become_orders_within_bounds_or_a_reason(
    name: str, data: st.DataObject
) -> None:
    settings = data.draw(fitting(REGISTRY.techniques[name].settings))
    REGISTRY.techniques[name].settings.check(settings)
    with suppress(Refused):
        for order in REGISTRY.realizer(name).orders(settings, JOB):
            assert order.lever in LEVERS
            assert_is_an_address(order.to)
            assert_can_be_sent(name, order)


@every_technique
@given(given=garbage)
def test_what_does_not_fit_is_called_so_and_nothing_else_happens(name: str, given: Any) -> None:
    with suppress(SettingFault):
        REGISTRY.techniques[name].settings.check(given)
        assert isinstance(given, Mapping)


def assert_is_an_address(to: Address) -> None:
    said = {word for word in ("executor", "host", "pool") if getattr(to, word)}
    assert said == set(PLACES[to.place])


def assert_can_be_sent(name: str, order: Order) -> None:
    document = Control(1, 1, {name: Wanted("act", 1, 1, order.values)})
    assert control.decode(control.encode(document)).techniques[name].settings == order.values


def decisions(name: str, view: View) -> list[Decision]:
    technique = REGISTRY.techniques[name]
    options, past = checked(technique.options, {}), Past(Mode.ACT, "run")
    if technique.scope == Scope.CLUSTER:
        decide_all = REGISTRY.cluster_controller(name).decide_all
        of_two = dict.fromkeys(("a", "b"), view)
        found = decide_all(of_two, dict.fromkeys(of_two, options), dict.fromkeys(of_two, past))
        assert set(found) <= set(of_two)
        return list(found.values())
    decision = REGISTRY.controller(name).decide(view, options, past)
    return [decision] if decision else []


def quiet_view(windows: int) -> View:
    nothing = np.full(windows, np.nan)
    return View(0, nothing, nothing, nothing, nothing, nothing, nothing)

import json
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

from techniques.model import Conditions, Decision, Figure, Mode, Order, Past, Technique
from techniques.registry import Controller, Picture, Realizer, Registry, named
from techniques.view import View

ECHO = "tests.techniques.echo"
EVERY = Registry([ECHO, "tests.techniques.stepping"])


def test_a_technique_is_found_by_its_folder_alone() -> None:
    assert "echo" not in Registry().techniques
    assert Registry([ECHO]).techniques["echo"].title == "Echo"


def same_parameters(function: Callable[..., object], of_protocol: Callable[..., object]) -> bool:
    """A Protocol's method has `self` before what a module's function takes."""
    asked = list(signature(of_protocol).parameters)[1:]
    return list(signature(function).parameters) == asked


@pytest.mark.parametrize("name", EVERY.techniques)
def test_a_technique_takes_what_the_protocols_say(name: str) -> None:
    controller, realizer, picture = (
        EVERY.controller(name),
        EVERY.realizer(name),
        EVERY.picture(name),
    )
    assert same_parameters(controller.conditions, Controller.conditions)
    assert same_parameters(controller.decide, Controller.decide)
    assert same_parameters(realizer.orders, Realizer.orders)
    assert picture is None or same_parameters(picture.figure, Picture.figure)


@pytest.mark.parametrize("windows", [0, 1, 600])
@pytest.mark.parametrize("name", EVERY.techniques)
def test_a_technique_answers_as_the_protocols_say_also_where_nothing_is_known(
    name: str, windows: int
) -> None:
    view, defaults = unknown(windows), default_options(EVERY.techniques[name])
    controller, picture = EVERY.controller(name), EVERY.picture(name)
    conditions = controller.conditions(view)
    assert isinstance(conditions, Conditions)
    assert conditions.why
    decision = controller.decide(view, defaults, Past(mode=Mode.ACT, run="r"))
    assert isinstance(decision, Decision | None)
    if picture:
        for drawn in (picture.figure(view, decision), picture.figure(view, None)):
            assert isinstance(drawn, Figure | None)
    if decision:
        assert decision.reason
        # As JSON has it, for both are kept and sent so.
        assert json.loads(json.dumps([decision.settings, decision.memory])) == [
            decision.settings,
            decision.memory,
        ]


def default_options(technique: Technique) -> dict[str, Any]:
    return {option.name: option.default for option in technique.options}


def unknown(windows: int) -> View:
    """A job of so many windows in which nothing was measured."""
    nothing = np.full(windows, np.nan)
    return View(1_000_000, np.zeros(windows), nothing, nothing, nothing, nothing, nothing)


def test_what_is_decided_becomes_orders() -> None:
    decided = set()
    for name, technique in EVERY.techniques.items():
        past = Past(mode=Mode.ACT, run="r")
        decision = EVERY.controller(name).decide(unknown(600), default_options(technique), past)
        if decision:
            decided.add(name)
            orders = EVERY.realizer(name).orders(decision.settings)
            assert orders
            assert all(isinstance(order, Order) and order.lever for order in orders)
    assert {"echo", "stepping"} <= decided


def test_a_picture_is_there_for_those_that_have_one() -> None:
    assert EVERY.picture("echo") is None
    for name in ("shadowsync", "stepping"):
        picture = EVERY.picture(name)
        assert picture
        drawn = picture.figure(unknown(600), None)
        assert drawn
        # Without points, what it says in words is all there is.
        assert drawn.title
        assert drawn.points or drawn.note


def test_the_collector_needs_no_numpy_to_know_the_techniques() -> None:
    assert imported("[r.realizer(n) for n in r.techniques]") == []


def test_scipy_waits_for_a_curve_to_look_at() -> None:
    """A server that only shows cards never needs it."""
    asked = "[(r.controller(n), r.picture(n)) for n in r.techniques]"

    assert imported(asked) == ["numpy"]


def imported(asked: str) -> list[str]:
    """What of the heavy ones is in a process that did so."""
    code = f"import sys; from techniques.registry import Registry; r = Registry(['{ECHO}']); "
    code += f"{asked}; print(*(n for n in ('numpy', 'scipy', 'kneed') if n in sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return said.stdout.split()


def test_packages_are_listed_with_commas() -> None:
    assert named(" a.b, c ,, ") == ("a.b", "c")

import subprocess
import sys

import numpy as np

from techniques.registry import Registry, named
from techniques.view import View

ECHO = "tests.techniques.echo"
EVERY = Registry([ECHO, "tests.techniques.stepping"])


def test_a_technique_is_found_by_its_folder_alone() -> None:
    assert "echo" not in Registry().techniques
    assert Registry([ECHO]).techniques["echo"].title == "Echo"


def unknown(windows: int) -> View:
    """A job of so many windows in which nothing was measured."""
    nothing = np.full(windows, np.nan)
    return View(1_000_000, np.zeros(windows), nothing, nothing, nothing, nothing, nothing)


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

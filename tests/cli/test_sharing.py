from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.nodeid import NodeId

from dashboard.cli.root import ROOT
from dashboard.cli.test import ONE_BY_ONE, SIDE_BY_SIDE
from tests.sharing import OWN_JVM, SPARK, STATE, TwoSparksAtATime, marks, tell_apart

LEVERS, TASKS = (
    "tests/collectors/probe/test_levers.py",
    "tests/collectors/probe/test_task_events.py",
)
STORES = "tests/collectors/probe/test_state_store_tap.py"
WIRE, KILLED = (
    "tests/collectors/formats/test_wire.py",
    "tests/collectors/probe/test_killed_levers.py",
)


def unit(nodeid: str) -> str:
    """With which others it goes to one worker."""
    handing_out = object.__new__(TwoSparksAtATime)
    handing_out.config = SimpleNamespace(rootpath=ROOT)
    return handing_out._split_scope(nodeid)


def test_all_sessions_of_spark_go_to_two_workers_and_the_rest_by_file() -> None:
    assert unit(f"{LEVERS}::test_one") == unit(f"{TASKS}::test_other[a::b]") == SPARK
    assert unit(f"{STORES}::test_one") == STATE
    assert unit(f"{WIRE}::test_one") == unit(f"{WIRE}::test_other") == WIRE
    assert unit(f"{KILLED}::test_one") == KILLED


def test_what_is_marked_is_found_by_its_text(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        for name in (SPARK, OWN_JVM):
            assert marks(item.path, name) or not item.get_closest_marker(name)


def test_every_test_is_in_one_of_both_halves() -> None:
    together, alone = (words[words.index("-m") + 1] for words in (SIDE_BY_SIDE, ONE_BY_ONE))
    assert together == f"not {alone}"


class Item(SimpleNamespace):
    @property
    def nodeid(self) -> str:
        return str(self._id)


def named(name: str, nodeid: str) -> Any:
    return Item(name=name, _id=NodeId.parse(nodeid))


def test_tests_that_share_an_id_get_one_each() -> None:
    items = [named(f"test_it[{verb}]", "tests/test_api.py::test_it") for verb in ("GET", "PUT")]
    tell_apart(items)
    assert len({item.nodeid for item in items}) == 2


def test_tests_that_cannot_be_told_apart_are_an_error() -> None:
    with pytest.raises(pytest.UsageError, match="two tests"):
        tell_apart([named("test_it", "tests/test_api.py::test_it")] * 2)

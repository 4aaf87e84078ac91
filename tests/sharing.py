"""How tests share the machine where several run at once: hooks, for `conftest.py`.

Most tests wait more than they compute, so workers run beside each other, a file at a time. A Spark
session takes a JVM and a while to start, so tests with one go to two workers only: to one those of
state stores, which wait for checkpoints most of the time, to the other the rest. Those that start
JVMs as processes are marked `own_jvm` and go to any. Those that would measure their neighbours are
marked `quiet` and run alone, when the others are done.
"""

from functools import cache
from pathlib import Path

import pytest
from _pytest.nodeid import NodeId
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

SPARK = "spark"
STATE = "state"
OWN_JVM = "own_jvm"
STATE_STORES = ("test_snapshot_", "test_state_store_")


class TwoSparksAtATime(LoadScopeScheduling):  # type: ignore[misc]
    """A file at a time to each worker, but all of Spark to two."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        path = self.config.rootpath / file
        if not marks(path, SPARK) or marks(path, OWN_JVM):
            return file
        return STATE if path.name.startswith(STATE_STORES) else SPARK


@cache
def marks(file: Path, name: str) -> bool:
    # Who hands out tests knows their names and not their marks.
    return f"mark.{name}" in file.read_text()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return TwoSparksAtATime(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no worker ends long after the others."""
    tell_apart(items)
    seen = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (not marks(item.path, SPARK), item.path not in seen))


def tell_apart(items: list[pytest.Item]) -> None:
    """Gives each test an id of its own. Schemathesis names all operations of an API alike, and of
    tests of one id xdist runs the first alone, without a word about the others."""
    known: set[str] = set()
    for item in items:
        if item.nodeid in known:
            item._id = NodeId.parse(f"{item.nodeid.rpartition('::')[0]}::{item.name}")
        if item.nodeid in known:
            raise pytest.UsageError(f"two tests are called {item.nodeid}")
        known.add(item.nodeid)

"""How tests share the machine where several run at once: hooks, for `conftest.py`.

Most tests wait more than they compute, so workers run beside each other, a file at a time. Spark
takes all cores, so of tests that need it one runs at a time, in one worker and one JVM. Those that
would measure their neighbours are marked `quiet` and run alone, when the others are done.
"""

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

SPARK = "spark"


class OneSparkAtATime(LoadScopeScheduling):  # type: ignore[misc]
    """A file at a time to each worker, but all of Spark to one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return SPARK if needs_spark(self.config.rootpath / file) else file


@cache
def needs_spark(file: Path) -> bool:
    # Who hands out tests knows their names and not their marks.
    return f"mark.{SPARK}" in file.read_text()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return OneSparkAtATime(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no worker ends long after the others."""
    seen = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (not needs_spark(item.path), item.path not in seen))

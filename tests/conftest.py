"""Fixtures of more than one folder: a real Redis, a Spark cluster; a store and a channel layer in
memory.

And how patient tests are: what runs on the machine beside them must not fail them.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as properties
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from dashboard.store import the_store
from dashboard.store.memory import MemoryStore
from dashboard.testing.cluster import Cluster, cluster
from dashboard.testing.stack import RedisServer, redis_server
from tests.append_only import unprotected_while_emptied
from tests.sharing import pytest_collection_modifyitems, pytest_xdist_make_scheduler
from tests.waiting import until

__all__ = ["pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]

# The browser's own 5 s are not enough where four browsers and a JVM share two cores.
expect.set_options(timeout=60_000)
# The same examples in every run: what one run finds, the next must find as well.
properties.register_profile(
    "curtail", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
properties.load_profile("curtail")


@pytest.fixture(autouse=True, scope="session")
def _emptied() -> Iterator[None]:
    with unprotected_while_emptied():
        yield


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A redis-server of the test's own, empty, that may be stopped and started."""
    with redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def _three_hosts() -> Iterator[Cluster]:
    with cluster(workers=3) as running:
        yield running


@pytest.fixture(scope="module")
def three_hosts(_three_hosts: Cluster) -> Cluster:
    """A Spark cluster for one application at a time; to start its JVMs once is dear enough."""
    until(lambda: not _three_hosts.executors(), timeout_s=120)
    return _three_hosts


@pytest.fixture
def memory_store(settings: Settings) -> Iterator[MemoryStore]:
    """The store of this process, in memory; and channels likewise."""
    settings.STORE = "dashboard.store.memory.MemoryStore"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    the_store.cache_clear()
    store = the_store()
    assert isinstance(store, MemoryStore)
    yield store
    the_store.cache_clear()

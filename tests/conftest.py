"""Fixtures of more than one folder: a real Redis; a store and a channel layer in memory."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from dashboard.store import the_store
from dashboard.store.memory import MemoryStore
from dashboard.testing.stack import RedisServer, redis_server
from tests.emptied import unprotected_while_emptied


@pytest.fixture(autouse=True, scope="session")
def _emptied() -> Iterator[None]:
    with unprotected_while_emptied():
        yield


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A redis-server of the test's own, empty, that may be stopped and started."""
    with redis_server() as server:
        yield server


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

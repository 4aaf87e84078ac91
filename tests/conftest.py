"""Fixtures of more than one folder: a real Redis; a store and a channel layer in memory."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from dashboard.store import frame_store
from dashboard.store.memory import MemoryFrameStore
from dashboard.testing.stack import RedisServer, redis_server


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A redis-server of the test's own, empty, that may be stopped and started."""
    with redis_server() as server:
        yield server


@pytest.fixture
def memory_store(settings: Settings) -> Iterator[MemoryFrameStore]:
    """The frame store of this process, in memory; and channels likewise."""
    settings.FRAME_STORE = "dashboard.store.memory.MemoryFrameStore"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    frame_store.cache_clear()
    store = frame_store()
    assert isinstance(store, MemoryFrameStore)
    yield store
    frame_store.cache_clear()

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from dashboard import jobs
from dashboard.models import Job
from dashboard.steering.techniques import registry
from dashboard.store.memory import MemoryStore
from tests.dashboard.steered import World
from tests.made import ANNOUNCEMENT


@pytest.fixture
def echo(settings: Settings) -> Iterator[None]:
    """The technique that moves nothing, and no other."""
    settings.TECHNIQUES = ("tests.techniques.echo",)
    registry.cache_clear()
    yield
    registry.cache_clear()


@pytest.fixture
def world(transactional_db: None, memory_store: MemoryStore, echo: None) -> World:
    jobs.record([ANNOUNCEMENT])
    return World(Job.objects.get(), memory_store)


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    """The real hash is slow on purpose: a second per login, and here are hundreds."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

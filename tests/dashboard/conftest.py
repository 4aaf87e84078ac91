from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from dashboard.celery_app import app
from dashboard.fleet import jobs
from dashboard.models import Job
from dashboard.steering.registered import registry
from dashboard.store.memory import MemoryStore
from dashboard.web import rate_limits
from tests.dashboard.steered_job import World
from tests.factories import ANNOUNCEMENT

# A window of this length ends in 2033, and then every 32 years.
NO_END_S = 10**9


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    """The real hash is slow on purpose: a second per login, and here are hundreds."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def errands(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What a server asks of workers; there are none here."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: asked.append((name, *args)))
    return asked


@pytest.fixture
def long_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of logins start anew with every window: one that does not end while we count."""
    for name in ("LOGIN_ACCOUNT", "LOGIN_ADDRESS"):
        limit: rate_limits.Limit = getattr(rate_limits, name)
        monkeypatch.setattr(rate_limits, name, replace(limit, window_s=NO_END_S))


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

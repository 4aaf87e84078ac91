import asyncio
import threading
from typing import Any

import pytest
from django.db import OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import AsyncClient, Client

from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from dashboard.web import health

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beaten(memory_store: MemoryStore) -> MemoryStore:
    asyncio.run(memory_store.beat(60))
    return memory_store


def checks(client: Client, status: int) -> dict[str, str]:
    response = client.get("/readyz")
    assert response.status_code == status
    body: dict[str, Any] = response.json()
    assert body.keys() == {"status", "checks"}
    assert body["status"] == ("ok" if status == 200 else "failed")
    found: dict[str, str] = body["checks"]
    return found


def test_a_server_that_answers_lives_whatever_else_is_away(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.usefixtures("beaten")
def test_it_is_ready_with_all_it_needs(client: Client) -> None:
    assert checks(client, 200) == {"database": "ok", "redis": "ok", "worker": "ok"}


@pytest.mark.usefixtures("memory_store")
def test_without_a_worker_it_is_not_ready(client: Client) -> None:
    assert checks(client, 503) == {"database": "ok", "redis": "ok", "worker": "failed"}


def test_without_redis_it_is_not_ready(
    client: Client, beaten: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> bool:
        raise StoreUnavailable("redis://:secret@redis:6379 refused")

    monkeypatch.setattr(beaten, "beaten", away)
    assert checks(client, 503) == {"database": "ok", "redis": "failed", "worker": "failed"}


@pytest.mark.usefixtures("beaten")
def test_without_the_database_it_is_not_ready_and_says_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("postgres://curtail:secret@db refused")

    monkeypatch.setattr(CursorWrapper, "execute", away)
    assert checks(client, 503) == {"database": "failed", "redis": "ok", "worker": "ok"}


async def test_a_database_that_hangs_does_not_hang_the_answer(
    memory_store: MemoryStore, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory_store.beat(60)
    over = threading.Event()
    monkeypatch.setattr(health, "ANSWER_WITHIN_S", 1)
    monkeypatch.setattr(health, "_select", lambda: over.wait(60))
    try:
        response = await async_client.get("/readyz")
    finally:
        over.set()
    assert response.json()["checks"] == {"database": "failed", "redis": "ok", "worker": "ok"}

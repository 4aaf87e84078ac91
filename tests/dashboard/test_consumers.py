import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from collectors import keys
from collectors.wire import encode
from dashboard import jobs
from dashboard.asgi import application
from dashboard.live import logins
from dashboard.store.memory import MemoryStore
from tests.made import ANNOUNCEMENT, START_MS, announcement, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB = ANNOUNCEMENT.job_id


async def cookie() -> bytes:
    client = Client()
    user = await User.objects.acreate_user("eve")
    await sync_to_async(client.force_login)(user)
    return f"sessionid={client.cookies['sessionid'].value}".encode()


def socket(path: str, *, origin: bytes = b"http://localhost", cookie: bytes = b"") -> Any:
    headers = [(b"origin", origin), (b"host", b"localhost"), (b"cookie", cookie)]
    return WebsocketCommunicator(application, path, headers=headers)


@pytest.fixture
async def recorded() -> None:
    await sync_to_async(jobs.record)([ANNOUNCEMENT])


@pytest.mark.usefixtures("recorded")
async def test_a_job_says_hello_and_then_sends_its_windows(memory_store: MemoryStore) -> None:
    browser = socket(f"/ws/jobs/{JOB}", cookie=await cookie())
    assert (await browser.connect())[0]
    hello = json.loads(await browser.receive_from())
    assert hello["type"] == "hello"
    memory_store.append(keys.frames(JOB), START_MS, encode(frame(0, (10,))))
    batch = json.loads(await browser.receive_from(timeout=3))
    assert (batch["type"], batch["seq"], batch["t"]) == ("windows", hello["seq"] + 1, [START_MS])
    await browser.disconnect()


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("path", [f"/ws/jobs/{JOB}", "/ws/jobs"])
async def test_without_a_login_the_socket_closes_with_4401(path: str) -> None:
    browser = socket(path)
    await browser.connect()
    assert (await browser.receive_output())["code"] == 4401


async def test_an_unknown_job_closes_with_4404() -> None:
    browser = socket("/ws/jobs/nobody.knows", cookie=await cookie())
    await browser.connect()
    assert (await browser.receive_output())["code"] == 4404


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("path", [f"/ws/jobs/{JOB}", "/ws/jobs"])
@pytest.mark.parametrize("end", ["disabled", "logged out", "new password"])
async def test_a_socket_ends_with_the_login_it_was_opened_with(
    path: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logins, "ASK_EVERY_S", 0.05)
    browser = socket(path, cookie=await cookie())
    await browser.connect()
    await browser.receive_from()
    assert await browser.receive_nothing(timeout=0.3)
    eve = await User.objects.aget()
    if end == "disabled":
        await User.objects.aupdate(is_active=False)
    elif end == "logged out":
        await Session.objects.all().adelete()
    else:
        eve.set_password("another one")
        await eve.asave()
    assert (await browser.receive_output(timeout=5))["code"] == 4401
    await browser.disconnect()


async def test_a_foreign_origin_is_turned_away() -> None:
    browser = socket("/ws/jobs", origin=b"https://evil.example", cookie=await cookie())
    assert (await browser.connect())[0] is False


@pytest.mark.usefixtures("recorded")
async def test_the_list_comes_at_once_and_again_upon_change() -> None:
    browser = socket("/ws/jobs", cookie=await cookie())
    await browser.connect()
    first = json.loads(await browser.receive_from())
    assert [job["id"] for job in first["items"]] == [JOB]
    other = announcement(job_id="orders.raw", query="raw")
    assert await sync_to_async(jobs.record)([other])
    await jobs.tell_pages()
    second = json.loads(await browser.receive_from())
    assert [job["id"] for job in second["items"]] == ["orders.raw", JOB]
    await browser.disconnect()

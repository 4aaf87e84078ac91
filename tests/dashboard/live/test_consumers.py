import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import AsyncClient, Client

from collectors.formats import keys
from collectors.formats.wire import encode
from dashboard.asgi import application
from dashboard.fleet import jobs
from dashboard.fleet.snapshots import the_fleet
from dashboard.live import jobfeed, logins
from dashboard.live.jobfeed import JobFeed, job_feed
from dashboard.models import Job
from dashboard.store.memory import MemoryStore
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB = ANNOUNCEMENT.job_id
PATIENCE_S = 30


async def cookie() -> bytes:
    client = Client()
    user = await User.objects.acreate_user("eve")
    await sync_to_async(client.force_login)(user)
    return f"sessionid={client.cookies['sessionid'].value}".encode()


class Browser(WebsocketCommunicator):
    """As patient as somebody in front of one: what all it does rests on waits a second."""

    async def receive_output(self, *_: float) -> Any:
        return await super().receive_output(PATIENCE_S)

    async def wait(self, *_: float) -> None:
        await super().wait(PATIENCE_S)


@pytest.fixture(autouse=True)
async def _only_when_told(memory_store: MemoryStore) -> None:
    """The list is looked at when somebody tells of a change, and not every two seconds as well."""
    jobfeed._feeds[asyncio.get_running_loop()] = JobFeed(the_fleet(), every_s=3_600)


def socket(path: str, *, origin: bytes = b"http://localhost", cookie: bytes = b"") -> Any:
    headers = [(b"origin", origin), (b"host", b"localhost"), (b"cookie", cookie)]
    return Browser(application, path, headers=headers)


@pytest.fixture
async def recorded() -> None:
    await sync_to_async(jobs.record)([ANNOUNCEMENT])


@pytest.mark.usefixtures("recorded")
async def test_a_job_says_hello_and_then_sends_its_cards_and_windows(
    memory_store: MemoryStore,
) -> None:
    browser = socket(f"/ws/jobs/{JOB}", cookie=await cookie())
    assert (await browser.connect())[0]
    hello, cards = [json.loads(await browser.receive_from()) for _ in range(2)]
    assert (hello["type"], cards["type"]) == ("hello", "cards")
    assert "shadowsync" in {card["name"] for card in cards["items"]}
    memory_store.append(keys.frames(JOB), START_MS, encode(frame(0, (10,))))
    batch = json.loads(await browser.receive_from())
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
    # A job says hello and sends its cards, the list comes whole.
    for _ in range(1 if path == "/ws/jobs" else 2):
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
    assert (await browser.receive_output())["code"] == 4401
    await browser.disconnect()


async def test_a_foreign_origin_is_turned_away() -> None:
    browser = socket("/ws/jobs", origin=b"https://evil.example", cookie=await cookie())
    assert (await browser.connect())[0] is False


@pytest.mark.usefixtures("recorded")
async def test_the_list_comes_whole_and_then_only_what_changed() -> None:
    browser = socket("/ws/jobs", cookie=await cookie())
    await browser.connect()
    first = json.loads(await browser.receive_from())
    assert (first["type"], first["full"], first["store"]) == ("jobs", True, "ok")
    assert [job["id"] for job in first["items"]] == [JOB]
    other = announcement(job_id="orders.raw", query="raw")
    assert await sync_to_async(jobs.record)([other])
    await jobs.tell_pages()
    second = json.loads(await browser.receive_from())
    assert (second["full"], second["gone"]) == (False, [])
    assert [(job["id"], job["query"]) for job in second["items"]] == [("orders.raw", "raw")]
    await Job.objects.filter(pk=JOB).adelete()
    await jobs.tell_pages()
    third = json.loads(await browser.receive_from())
    assert (third["items"], third["gone"]) == ([], [JOB])
    await browser.disconnect()


@pytest.mark.usefixtures("recorded")
async def test_the_list_and_the_api_tell_the_same_of_a_job(memory_store: MemoryStore) -> None:
    memory_store.announce(announcement(pulse=PULSE))
    token = await cookie()
    browser = socket("/ws/jobs", cookie=token)
    await browser.connect()
    live = json.loads(await browser.receive_from())["items"]
    await browser.disconnect()
    client = AsyncClient()
    client.cookies["sessionid"] = token.decode().removeprefix("sessionid=")
    assert (await client.get("/api/v1/jobs")).json()["items"] == live


async def test_a_list_nobody_looks_at_is_not_made() -> None:
    token = await cookie()
    browsers = [socket("/ws/jobs", cookie=token) for _ in range(2)]
    for browser in browsers:
        await browser.connect()
        await browser.receive_from()
    assert job_feed().looks == 1
    for browser in browsers:
        await browser.disconnect()
    assert not job_feed().busy

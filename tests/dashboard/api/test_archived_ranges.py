"""Ranges that began before Redis's retention: the same answers as if all were still in Redis."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from collectors.formats import activity, keys
from collectors.formats.activity import Activity, Kind
from collectors.formats.keys import Entry, Stream
from collectors.formats.wire import ExecutorSample, encode
from dashboard.fleet import jobs
from dashboard.history.archive import Archive
from dashboard.history.errors import ArchiveUnavailable
from dashboard.history.place import Place
from dashboard.store.memory import MemoryStore
from dashboard.store.past import joined, the_archive
from tests.factories import ANNOUNCEMENT, START_MS, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}"
FRAMES, ACTIVITIES = keys.frames(ANNOUNCEMENT.job_id), keys.activities(ANNOUNCEMENT.job_id)
WINDOWS = 400
END_MS = START_MS + WINDOWS * 50
RANGE = f"start_ms={START_MS}&end_ms={END_MS}"


@pytest.fixture
def archive(tmp_path: Path, settings: Settings) -> Iterator[Archive]:
    settings.ARCHIVE = str(tmp_path / "archive")
    settings.ARCHIVE_OPTIONS = {}
    the_archive.cache_clear()
    yield Archive(Place(settings.ARCHIVE))
    the_archive.cache_clear()


@pytest.fixture
def api(client: Client) -> Client:
    client.force_login(User.objects.create_user("eve"))
    jobs.record([ANNOUNCEMENT])
    return client


def entries() -> dict[Stream, list[Entry]]:
    sample = (ExecutorSample("1", "node-a", {1: 400}),)
    frames = [frame(at, (at % 90 + 1,), executors=sample) for at in range(WINDOWS)]
    ran = [
        Activity(Kind.GC, (START_MS + at) * 1000, (START_MS + at + 30) * 1000, "1")
        for at in range(0, WINDOWS * 50, 1_000)
    ]
    return {
        FRAMES: [Entry(each.start_ms, encode(each)) for each in frames],
        ACTIVITIES: [Entry(each.end_us // 50_000 * 50, activity.encode((each,))) for each in ran],
    }


def answers(api: Client) -> dict[str, Any]:
    paths = ("windows", "activities", "executors/host_cpu", "distribution")
    found = {path: api.get(f"{JOB}/{path}?{RANGE}").json() for path in paths}
    csv: Any = api.get(f"{JOB}/windows.csv?{RANGE}")
    return {**found, "csv": async_to_sync(_whole)(csv)}


async def _whole(response: Any) -> bytes:
    return b"".join([chunk async for chunk in response.streaming_content])


@pytest.mark.parametrize(
    ("archived_until", "in_redis_from"),
    [(WINDOWS, WINDOWS), (200, 200), (300, 100), (0, 0), (WINDOWS, 0)],
    ids=["all archived", "border", "both have a part", "all in Redis", "both have all"],
)
def test_answers_are_those_of_a_redis_that_forgets_nothing(
    api: Client,
    memory_store: MemoryStore,
    archive: Archive,
    archived_until: int,
    in_redis_from: int,
) -> None:
    for stream, every in entries().items():
        for entry in every:
            memory_store.append(stream, *entry)
    wanted = answers(api)
    assert len(wanted["windows"]["t"]) == WINDOWS
    assert len(wanted["activities"]["items"]) == 20
    memory_store._streams.clear()
    until_ms, from_ms = START_MS + archived_until * 50, START_MS + in_redis_from * 50
    archive.append(
        {
            stream: [entry for entry in every if entry.at_ms < until_ms]
            for stream, every in entries().items()
        },
        {},
    )
    for stream, every in entries().items():
        for entry in (entry for entry in every if entry.at_ms >= from_ms):
            memory_store.append(stream, *entry)
    assert answers(api) == wanted


def test_an_archive_that_is_away_leaves_what_redis_has_and_says_why(
    api: Client, memory_store: MemoryStore, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> list[Entry]:
        raise ArchiveUnavailable("no route to host")

    monkeypatch.setattr(Archive, "entries", away)
    memory_store.append(FRAMES, START_MS, encode(frame(0, (5,))))
    body = api.get(f"{JOB}/windows?{RANGE}").json()
    assert body["t"] == [START_MS]
    assert "no route to host" in body["incomplete"]
    csv = api.get(f"{JOB}/windows.csv?{RANGE}")
    assert "no route to host" in csv["Curtail-Incomplete"]


def test_without_an_archive_an_old_range_says_that_an_hour_is_kept(
    api: Client, settings: Settings
) -> None:
    settings.ARCHIVE = None
    the_archive.cache_clear()
    assert "hour" in api.get(f"{JOB}/windows?{RANGE}").json()["incomplete"]
    the_archive.cache_clear()


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_what_is_in_both_is_there_once_and_in_order(one: set[int], other: set[int]) -> None:
    def made(times: set[int]) -> list[Entry]:
        return [Entry(at_ms, b"%d" % at_ms) for at_ms in sorted(times)]

    assert joined(made(one), made(other)) == made(one | other)

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from dashboard.fleet.job_list import ListedJob
from dashboard.fleet.snapshots import Fleet, Snapshot
from dashboard.live.jobfeed import Item, JobFeed, difference
from dashboard.models import Job
from dashboard.store.memory import MemoryStore

fleets = st.dictionaries(
    st.sampled_from("abcde"),
    st.fixed_dictionaries(
        {"p99_ms": st.none() | st.integers(0, 3), "tags": st.lists(st.just("x"))}
    ),
).map(lambda made: {job_id: {"id": job_id, **item} for job_id, item in made.items()})


class Fixed(Fleet):
    """Jobs of the test's own, and a count of how often they were looked at."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.names = ["a"]

    async def snapshot(self) -> Snapshot:
        jobs = [Job(name, name, "q", first_seen_ms=0, last_seen_ms=0) for name in self.names]
        return Snapshot([ListedJob(job) for job in jobs], {})


@pytest.fixture
def feed(settings: Settings) -> JobFeed:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    return JobFeed(Fixed(), every_s=0.25)


def merged(held: dict[str, Item], changed: list[Item], gone: list[str]) -> dict[str, Item]:
    """As a page does it."""
    now = {job_id: item for job_id, item in held.items() if job_id not in gone}
    for item in changed:
        now[item["id"]] = {**now.get(item["id"], {}), **item}
    return now


@given(fleets, fleets)
def test_what_changed_makes_the_old_list_the_new_one(
    before: dict[str, Item], after: dict[str, Item]
) -> None:
    changed, gone = difference(before, after)
    assert merged(before, changed, gone) == after


@given(fleets)
def test_of_a_list_that_is_the_same_nothing_changed(fleet: dict[str, Item]) -> None:
    assert difference(fleet, dict(fleet)) == ([], [])


async def read(feed: JobFeed, seen: int) -> tuple[int, dict[str, Any]]:
    async with asyncio.timeout(30):
        seen, text = await feed.next(seen)
    return seen, json.loads(text)


async def test_who_keeps_up_gets_changes_and_who_does_not_gets_all(feed: JobFeed) -> None:
    feed.join()
    first, all_of_it = await read(feed, 0)
    assert (all_of_it["full"], [job["id"] for job in all_of_it["items"]]) == (True, ["a"])
    second, changes = await read(feed, first)
    assert (changes["full"], changes["items"], changes["gone"]) == (False, [], [])
    third, _ = await read(feed, second)
    assert third == first + 2
    _, again = await read(feed, first)
    assert again["full"]
    feed.leave()


async def test_a_look_that_fails_does_not_end_the_list(
    feed: JobFeed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = asyncio.Event()

    async def broken(_: object) -> Snapshot:
        tried.set()
        raise RuntimeError("the database is gone")

    with monkeypatch.context() as patched:
        patched.setattr(Fixed, "snapshot", broken)
        feed.join()
        async with asyncio.timeout(30):
            await tried.wait()
    assert (await read(feed, 0))[1]["full"]
    assert "the database is gone" in caplog.text
    feed.leave()


async def test_one_who_comes_back_after_all_had_left_starts_from_all(feed: JobFeed) -> None:
    feed.join()
    await read(feed, 0)
    feed.leave()
    feed.join()
    assert (await read(feed, 0))[1]["full"]
    feed.leave()


async def test_a_channel_layer_that_is_away_leaves_the_pace_as_it_is(
    feed: JobFeed, settings: Settings
) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:1/0"]},
        }
    }
    feed.join()
    seen, _ = await read(feed, 0)
    assert (await read(feed, seen))[0] == seen + 1
    feed.leave()

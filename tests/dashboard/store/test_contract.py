"""Every Store behaves like this, whatever it is made of."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
from redis import Redis

from collectors.formats import keys
from collectors.formats.announcement import Announcement, to_hash
from collectors.formats.keys import Stream
from dashboard.store import Entry, Store, StoreUnavailable
from dashboard.store.memory import MemoryStore
from dashboard.store.redis import READ_AT_ONCE, RedisStore
from dashboard.testing.stack import RedisServer
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement

JOB = ANNOUNCEMENT.job_id
FRAMES = keys.frames(JOB)
OTHER = keys.frames("other.job")


@dataclass(frozen=True)
class Tried:
    """A store, and how its collector would write to it."""

    store: Store
    append: Callable[[Stream, int, bytes], None]
    announce: Callable[[Announcement], None]
    control: Callable[[str], object]


@pytest.fixture(params=["memory", "redis"])
async def tried(request: pytest.FixtureRequest) -> AsyncIterator[Tried]:
    if request.param == "memory":
        memory = MemoryStore()
        yield Tried(memory, memory.append, memory.announce, memory.controls.get)
        return
    server: RedisServer = request.getfixturevalue("redis")
    client = Redis.from_url(server.url)

    def append(stream: Stream, at_ms: int, payload: bytes) -> None:
        client.xadd(stream.key, {keys.PAYLOAD: payload}, id=f"{at_ms}-0")

    def announce(announced: Announcement) -> None:
        client.hset(keys.job(announced.job_id), mapping=to_hash(announced))  # type: ignore[arg-type]
        client.zadd(keys.JOBS, {announced.job_id: announced.heartbeat_ms})

    store = RedisStore(server.url)
    yield Tried(store, append, announce, lambda job_id: client.get(keys.control(job_id)))
    await store.close()


def fill(tried: Tried, count: int, stream: Stream = FRAMES) -> list[Entry]:
    frames = [Entry(START_MS + 50 * at, b"%d" % at) for at in range(count)]
    for frame in frames:
        tried.append(stream, frame.at_ms, frame.payload)
    return frames


async def test_nothing_is_known_at_first(tried: Tried) -> None:
    assert list(await tried.store.announcements()) == []
    assert list(await tried.store.entries(FRAMES, 0, 2**50)) == []
    assert await tried.store.newest_ms(FRAMES) == -1


async def test_announced_jobs_are_listed(tried: Tried) -> None:
    other = announcement(job_id="orders.raw", query="raw")
    tried.announce(ANNOUNCEMENT)
    tried.announce(other)
    found = sorted(await tried.store.announcements(), key=lambda each: each.job_id)
    assert found == [other, ANNOUNCEMENT]


async def test_the_newest_announcement_of_a_job_counts(tried: Tried) -> None:
    later = announcement(heartbeat_ms=ANNOUNCEMENT.heartbeat_ms + 1)
    tried.announce(ANNOUNCEMENT)
    tried.announce(later)
    assert list(await tried.store.announcements()) == [later]


async def test_the_pulse_of_a_job_comes_with_its_announcement(tried: Tried) -> None:
    beating = announcement(pulse=PULSE)
    tried.announce(beating)
    assert list(await tried.store.announcements()) == [beating]


async def test_jobs_run_while_their_heart_beats_and_they_did_not_end(tried: Tried) -> None:
    assert list(await tried.store.running(0)) == []
    tried.announce(announcement(job_id="a.runs", heartbeat_ms=START_MS))
    tried.announce(announcement(job_id="a.silent", heartbeat_ms=START_MS - 1))
    tried.announce(announcement(job_id="a.ended", heartbeat_ms=START_MS, ended_ms=START_MS))
    assert list(await tried.store.running(START_MS)) == ["a.runs"]


async def test_a_lease_is_its_owners_until_it_expires(tried: Tried) -> None:
    assert await tried.store.lease("chore", "one", 60_000)
    assert not await tried.store.lease("chore", "two", 60_000)
    assert await tried.store.lease("another chore", "two", 60_000)
    assert await tried.store.lease("chore", "one", 1)
    while not await tried.store.lease("chore", "two", 60_000):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    assert not await tried.store.lease("chore", "one", 60_000)


async def test_a_range_includes_its_start_and_not_its_end(tried: Tried) -> None:
    entries = fill(tried, 10)
    found = await tried.store.entries(FRAMES, entries[2].at_ms, entries[5].at_ms)
    assert list(found) == entries[2:5]


async def test_a_range_longer_than_one_read_comes_whole(tried: Tried) -> None:
    entries = fill(tried, READ_AT_ONCE + 5)
    assert list(await tried.store.entries(FRAMES, 0, 2**50)) == entries


async def test_frames_and_activities_of_a_job_do_not_mix(tried: Tried) -> None:
    fill(tried, 3)
    fill(tried, 1, keys.activities(JOB))
    assert len(await tried.store.entries(keys.activities(JOB), 0, 2**50)) == 1
    news = await tried.store.follow({FRAMES: -1, keys.activities(JOB): -1}, wait_ms=10)
    assert {stream.kind: len(each) for stream, each in news.items()} == {
        "frames": 3,
        "activities": 1,
    }


async def test_jobs_do_not_mix(tried: Tried) -> None:
    fill(tried, 3)
    fill(tried, 1, OTHER)
    assert len(await tried.store.entries(OTHER, 0, 2**50)) == 1


async def test_the_newest_frame_is_known(tried: Tried) -> None:
    entries = fill(tried, 4)
    assert await tried.store.newest_ms(FRAMES) == entries[-1].at_ms


async def test_the_newest_entries_of_many_streams_come_together(tried: Tried) -> None:
    entries = fill(tried, 4)
    others = fill(tried, 2, OTHER)
    found = await tried.store.newest([FRAMES, keys.activities(JOB), OTHER])
    assert dict(found) == {FRAMES: entries[-1], OTHER: others[-1]}
    assert dict(await tried.store.newest([])) == {}


async def test_entries_at_given_times_come_together(tried: Tried) -> None:
    entries = fill(tried, 4)
    others = fill(tried, 2, OTHER)
    times = {FRAMES: entries[1].at_ms, keys.activities(JOB): 7, OTHER: others[0].at_ms + 1}
    assert dict(await tried.store.at(times)) == {FRAMES: entries[1]}
    assert dict(await tried.store.at({})) == {}


async def test_following_gives_what_came_after(tried: Tried) -> None:
    entries = fill(tried, 5)
    news = await tried.store.follow({FRAMES: entries[2].at_ms, OTHER: -1}, wait_ms=10)
    assert {stream: list(each) for stream, each in news.items()} == {FRAMES: entries[3:]}


async def test_following_from_the_beginning_gives_all(tried: Tried) -> None:
    entries = fill(tried, 2)
    assert list((await tried.store.follow({FRAMES: -1}, wait_ms=10))[FRAMES]) == entries


async def test_following_wakes_for_a_frame_that_comes_while_it_waits(tried: Tried) -> None:
    waiting = asyncio.create_task(tried.store.follow({FRAMES: -1}, wait_ms=60_000))
    await asyncio.sleep(0.05)
    entries = fill(tried, 1)
    news = await asyncio.wait_for(waiting, timeout=30)
    assert list(news[FRAMES]) == entries


async def test_following_gives_up_after_its_time(tried: Tried) -> None:
    assert dict(await tried.store.follow({FRAMES: -1}, wait_ms=20)) == {}
    assert dict(await tried.store.follow({}, wait_ms=20)) == {}


async def test_counters_go_up_and_down_each_by_itself(tried: Tried) -> None:
    assert list(await tried.store.count(["a", "b"], 1, 60)) == [1, 1]
    assert list(await tried.store.count(["a"], 1, 60)) == [2]
    assert list(await tried.store.count(["a", "b"], -1, 60)) == [1, 0]


async def test_a_workers_word_holds_for_a_while(tried: Tried) -> None:
    assert not await tried.store.beaten()
    await tried.store.beat(60)
    assert await tried.store.beaten()
    await tried.store.beat(1)
    await asyncio.sleep(1.1)
    assert not await tried.store.beaten()


async def test_an_owner_alone_holds_all_and_goes_on_holding_it(tried: Tried) -> None:
    first = await tried.store.hold("a", 8, 60_000)
    assert set(first) == set(range(8))
    assert dict(await tried.store.hold("a", 8, 60_000)) == dict(first)


async def test_owners_share_and_no_two_hold_the_same(tried: Tried) -> None:
    await tried.store.hold("a", 8, 60_000)
    assert dict(await tried.store.hold("b", 8, 60_000)) == {}
    a = await tried.store.hold("a", 8, 60_000)
    b = await tried.store.hold("b", 8, 60_000)
    assert (len(a), len(b)) == (4, 4)
    assert {*a, *b} == set(range(8))


async def test_an_uneven_number_is_shared_as_evenly_as_it_goes(tried: Tried) -> None:
    for owner in ("a", "b", "c") * 2:
        await tried.store.hold(owner, 8, 60_000)
    held = [set(await tried.store.hold(owner, 8, 60_000)) for owner in ("a", "b", "c")]
    assert sorted(map(len, held)) == [2, 3, 3]
    assert set.union(*held) == set(range(8))


async def test_what_is_not_renewed_is_free_after_its_time(tried: Tried) -> None:
    gone = await tried.store.hold("a", 8, 50)
    await asyncio.sleep(0.06)
    taken = await tried.store.hold("b", 8, 60_000)
    assert set(taken) == set(range(8))
    assert min(taken.values()) > max(gone.values())
    assert dict(await tried.store.hold("a", 8, 60_000)) == {}


async def test_what_is_let_go_is_free_at_once(tried: Tried) -> None:
    await tried.store.hold("a", 8, 60_000)
    await tried.store.let_go("a")
    assert len(await tried.store.hold("b", 8, 60_000)) == 8
    await tried.store.let_go("a")
    assert len(await tried.store.hold("b", 8, 60_000)) == 8


async def test_how_far_jobs_were_looked_at_is_told(tried: Tried) -> None:
    await tried.store.tell_looked({}, {})
    assert dict(await tried.store.looked()) == {}
    await tried.store.tell_looked({JOB: START_MS, "other.job": 1}, {})
    await tried.store.tell_looked({JOB: START_MS + 50}, {})
    assert dict(await tried.store.looked()) == {JOB: START_MS + 50, "other.job": 1}


async def test_why_a_job_cannot_be_read_is_told_until_it_can(tried: Tried) -> None:
    await tried.store.tell_looked({}, {JOB: "garbage", "other.job": "more", "good.job": ""})
    assert dict(await tried.store.failing()) == {JOB: "garbage", "other.job": "more"}
    await tried.store.tell_looked({}, {JOB: ""})
    assert dict(await tried.store.failing()) == {"other.job": "more"}


async def test_counters_do_not_stay_in_redis(redis: RedisServer) -> None:
    store = RedisStore(redis.url)
    await store.count(["a"], 1, 60)
    assert 0 < Redis.from_url(redis.url).ttl("curtail:limit:a") <= 60
    await store.close()


async def test_a_redis_that_is_away_is_unavailable_and_then_back(redis: RedisServer) -> None:
    store = RedisStore(redis.url)
    assert await store.newest_ms(FRAMES) == -1
    redis.stop()
    for call in (
        store.announcements(),
        store.running(0),
        store.entries(FRAMES, 0, 2**50),
        store.newest_ms(FRAMES),
        store.newest([FRAMES]),
        store.at({FRAMES: 0}),
        store.follow({FRAMES: -1}, 10),
        store.count(["a"], 1, 60),
        store.beat(60),
        store.beaten(),
        store.hold("a", 8, 1_000),
        store.let_go("a"),
        store.tell_looked({JOB: 1}, {JOB: ""}),
        store.looked(),
        store.failing(),
        store.put_cards(JOB, b"{}", 60),
        store.cards(JOB),
        store.want_cards(JOB, 60),
        store.wanted_cards(),
    ):
        with pytest.raises(StoreUnavailable):
            await call
    redis.start()
    assert await store.newest_ms(FRAMES) == -1
    await store.close()


async def test_what_others_wrote_into_our_keys_does_no_harm(redis: RedisServer) -> None:
    client = Redis.from_url(redis.url)
    client.zadd(keys.JOBS, {b"\xff\xfe": 1, b"half": 2})
    client.hset(keys.job("half"), "job_id", "half")
    client.xadd(FRAMES.key, {"colour": "blue"}, id=f"{START_MS}-0")
    store = RedisStore(redis.url)
    assert list(await store.announcements()) == []
    assert list(await store.entries(FRAMES, 0, 2**50)) == [Entry(START_MS, b"")]
    await store.close()


async def test_what_is_asked_of_a_job_replaces_what_was(tried: Tried) -> None:
    assert tried.control(JOB) is None
    await tried.store.put_control(JOB, b"one")
    await tried.store.put_control(JOB, b"two")
    assert tried.control(JOB) == b"two"
    assert tried.control("other.job") is None


async def test_cards_replace_those_before_and_are_gone_after_their_time(tried: Tried) -> None:
    assert await tried.store.cards(JOB) is None
    await tried.store.put_cards(JOB, b"one", 60)
    await tried.store.put_cards(JOB, b"two", 60)
    assert await tried.store.cards(JOB) == b"two"
    assert await tried.store.cards("other.job") is None
    await tried.store.put_cards(JOB, b"three", 1)
    await asyncio.sleep(1.1)
    assert await tried.store.cards(JOB) is None


async def test_cards_are_wanted_for_a_while_after_somebody_looked(tried: Tried) -> None:
    assert list(await tried.store.wanted_cards()) == []
    await tried.store.want_cards(JOB, 1)
    await tried.store.want_cards("other.job", 60)
    assert set(await tried.store.wanted_cards()) == {JOB, "other.job"}
    # Redis counts whole seconds.
    await asyncio.sleep(2.1)
    assert list(await tried.store.wanted_cards()) == ["other.job"]

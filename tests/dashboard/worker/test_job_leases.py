"""Every job belongs to one worker at a time."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from redis import Redis

from dashboard.celery_app import app
from dashboard.cli import programs
from dashboard.store.memory import MemoryStore
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from dashboard.worker.job_leases import SHARDS, Leases, shard

JOBS = [f"orders.{at}" for at in range(300)]


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def held(leases: Leases) -> set[str]:
    return {job_id for job_id in JOBS if leases.holds(job_id)}


async def until(condition: Callable[[], bool], *renewing: tuple[Leases, MemoryStore]) -> None:
    async with asyncio.timeout(30):
        while True:
            for leases, store in renewing:
                await leases.renew(store)
            if condition():
                return
            await asyncio.sleep(0.01)


async def test_a_worker_alone_has_all_jobs() -> None:
    leases = Leases("a")
    await leases.renew(MemoryStore())

    assert held(leases) == set(JOBS)


async def test_two_workers_share_and_never_have_the_same() -> None:
    store, a, b = MemoryStore(), Leases("a"), Leases("b")
    for _ in range(3):
        for leases in (a, b):
            await leases.renew(store)
            assert not held(a) & held(b)

    assert held(a) | held(b) == set(JOBS)
    assert min(len(held(a)), len(held(b))) > len(JOBS) / 4


async def test_what_a_dead_worker_had_goes_to_the_one_that_lives() -> None:
    store, a, b = MemoryStore(), Leases("a", 100), Leases("b", 100)
    for leases in (a, b, a, b):
        await leases.renew(store)
    assert held(b) != set(JOBS)

    await until(lambda: held(b) == set(JOBS), (b, store))
    assert held(a) == set()


async def test_a_worker_that_stops_gives_its_jobs_away_at_once() -> None:
    store, a, b = MemoryStore(), Leases("a"), Leases("b")
    await a.renew(store)
    await a.let_go(store)
    await b.renew(store)

    assert (held(a), held(b)) == (set(), set(JOBS))


async def test_a_lease_ends_by_the_holders_own_clock() -> None:
    clock = Clock()
    leases = Leases("a", 5_000, clock)
    await leases.renew(MemoryStore())
    clock.now_s += 4.9
    assert held(leases)
    clock.now_s += 0.1
    assert not held(leases)


async def test_it_is_to_be_renewed_well_before_it_ends() -> None:
    clock, store = Clock(), MemoryStore()
    leases = Leases("a", 5_000, clock)
    assert leases.is_short
    await leases.renew(store)
    assert not leases.is_short
    clock.now_s += 2
    assert leases.is_short
    assert held(leases)


async def test_a_job_that_was_anothers_meanwhile_has_a_new_tenure() -> None:
    store, a, b = MemoryStore(), Leases("a"), Leases("b")
    await a.renew(store)
    first = a.since(JOBS[0])
    await a.renew(store)
    assert a.since(JOBS[0]) == first

    await a.let_go(store)
    await b.renew(store)
    await b.let_go(store)
    await asyncio.sleep(0.002)
    await a.renew(store)
    assert first is not None
    assert (a.since(JOBS[0]) or 0) > first


def test_jobs_fall_into_all_shards_alike() -> None:
    filled = {shard(job_id) for job_id in JOBS}

    assert filled <= set(range(SHARDS))
    assert len(filled) > SHARDS / 2


def test_ticks_that_nobody_took_in_time_are_dropped() -> None:
    for entry in app.conf.beat_schedule.values():
        assert entry["options"]["expires"] == entry["schedule"]


def test_a_worker_process_gets_the_ticks_and_lets_go_when_it_stops(
    redis: RedisServer, tmp_path: Path
) -> None:
    env = programs.environ(
        os.environ,
        CURTAIL_DATA_DIR=str(tmp_path),
        REDIS_URL=redis.url,
        DATABASE_URL=f"sqlite:///{tmp_path}/none.sqlite3",
    )
    client = Redis.from_url(redis.url)

    def held_shards() -> int:
        return int(client.hlen("curtail:lease:shards"))

    with Running(programs.worker(env, tmp_path, tmp_path / "worker.log")) as worker:
        worker.wait_until(lambda: held_shards() == SHARDS)
        # A lease that is renewed does not run out.
        worker.wait_until(lambda: int(client.pttl("curtail:lease:shards")) > 4_500)
    assert held_shards() == 0

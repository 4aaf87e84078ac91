"""Rounds on a real Redis and a real archive, in processes that are killed at every call."""

import multiprocessing
import signal
from pathlib import Path

import pytest
from redis import Redis

from collectors.formats import keys
from dashboard.history.archive import Archive, Place
from dashboard.testing.stack import RedisServer
from tests.dashboard.history import killed_round
from tests.dashboard.history.streamed import assert_archived_once, fill

JOBS = ("orders.scored", "traffic.ranking")
PIECE = 150
NEVER = 10_000


# Its server has imported everything and used nothing, so a process costs no more than a fork.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([killed_round.__name__])


def round_killed_at(redis: RedisServer, folder: Path, call: int, when: str) -> str | None:
    """Returns the name of the call at which the round was killed, None if it came to its end."""
    words = (redis.url, folder, PIECE, call, when == "after", list(JOBS))
    process = PROCESSES.Process(target=killed_round.run, args=words)
    process.start()
    process.join(120)
    assert process.exitcode in (0, -signal.SIGKILL)
    return folder.with_suffix(".killed").read_text() if process.exitcode else None


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_any_call_loses_and_doubles_nothing(
    redis: RedisServer, tmp_path: Path, when: str
) -> None:
    """Each process gets one call further than the one before it, on what that one left behind."""
    folder = tmp_path / "archive"
    sent = 0
    killed_at: list[str] = []
    for call in range(1, NEVER):
        if sent < 400:
            fill(redis.url, JOBS, 100, first=sent)
            sent += 100
        name = round_killed_at(redis, folder, call, when)
        if name is None:
            break
        killed_at.append(name)
        told_of_what_is_archived(redis, folder)
    assert {"read", "append", "append_rolled"} <= set(killed_at)
    assert_archived_once(redis.url, Place(str(folder)), JOBS)


def told_of_what_is_archived(redis: RedisServer, folder: Path) -> None:
    """Redis trims by this key, so it must never be ahead of the archive."""
    client = Redis.from_url(redis.url)
    archived = Archive(Place(str(folder))).archived_ms(map(keys.frames, JOBS))
    for job_id in JOBS:
        told = client.get(keys.archived(job_id))
        assert told is None or int(told) <= archived[keys.frames(job_id)]

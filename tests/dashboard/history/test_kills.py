"""Rounds on a real Redis and a real archive, in processes that are killed at every call."""

import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from collectors.formats import keys
from dashboard.cli.root import ROOT
from dashboard.history.archive import Place
from dashboard.testing.stack import RedisServer
from tests.dashboard.history.streamed import assert_archived_once, fill

JOBS = ("orders.scored", "traffic.ranking")
PIECE = 150
NEVER = 10_000


def round_killed_at(redis: RedisServer, folder: Path, call: int, when: str) -> tuple[int, str]:
    words = (redis.url, str(folder), str(PIECE), str(call), when, *JOBS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.dashboard.history.killed_round", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_at_any_call_loses_and_doubles_nothing(
    redis: RedisServer, tmp_path: Path, when: str
) -> None:
    """Each process gets one call further than the one before it, on what that one left behind."""
    folder = tmp_path / "archive"
    sent, killed_at = 0, []
    for call in range(1, NEVER):
        if sent < 400:
            fill(redis.url, JOBS, 100, first=sent)
            sent += 100
        code, said = round_killed_at(redis, folder, call, when)
        if code == 0:
            break
        assert "killed at" in said, said
        killed_at.append(said.split()[2])
        told_of_what_is_archived(redis, folder)
    assert {"append", "read", "tell_archived", "append_rolled"} <= set(killed_at)
    assert_archived_once(redis.url, Place(str(folder)), JOBS)


def told_of_what_is_archived(redis: RedisServer, folder: Path) -> None:
    """Redis trims by this key, so it must never be ahead of the archive."""
    from dashboard.history.archive import Archive

    client = Redis.from_url(redis.url)
    archived = Archive(Place(str(folder))).archived_ms(map(keys.frames, JOBS))
    for job_id in JOBS:
        told = client.get(keys.archived(job_id))
        assert told is None or int(told) <= archived[keys.frames(job_id)]  # type: ignore[arg-type]

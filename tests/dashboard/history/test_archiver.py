"""`curtail archive` as users run it: a process with a JVM, on a real Redis."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.formats.keys import frames
from dashboard.cli import sessions
from dashboard.cli.root import ROOT
from dashboard.history.archive import Archive, Place
from dashboard.testing.stack import RedisServer
from tests.dashboard.history.streamed import assert_archived_once, fill
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.own_jvm]

JOBS = tuple(f"job.{number}" for number in range(6))
# A JVM on a machine that runs other tests takes its time.
PATIENCE_S = 180


class Archivers:
    def __init__(self, redis: RedisServer, tmp_path: Path) -> None:
        self.folder = tmp_path / "archive"
        self._env = {
            **os.environ,
            "REDIS_URL": redis.url,
            "CURTAIL_DATA_DIR": str(tmp_path),
            "CURTAIL_ARCHIVE": str(self.folder),
        }
        self.place = Place(str(self.folder))

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli", "archive", "--once", *words],
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def has(self, pattern: str) -> Callable[[], bool]:
        return lambda: any(self.folder.glob(pattern))

    def kill_when(self, happened: Callable[[], bool]) -> None:
        """Starts one and kills its driver, JVM and Python workers as soon as it happened."""
        process = self.start()
        until(lambda: happened() or process.poll() is not None, PATIENCE_S, every_s=0.001)
        sessions.send(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def archivers(redis: RedisServer, tmp_path: Path) -> Archivers:
    return Archivers(redis, tmp_path)


def test_it_archives_says_so_and_a_second_round_finds_nothing_new(
    redis: RedisServer, archivers: Archivers
) -> None:
    fill(redis.url, JOBS, 300)
    code, out, err = archivers.run("--master", "local[2]")
    assert (code, out.startswith("archived 2400 entries of 6 jobs in ")) == (0, True), out + err
    assert "6 of 6 groups of jobs" in err
    assert_archived_once(redis.url, archivers.place, JOBS)
    code, out, err = archivers.run()
    assert (code, out.startswith("archived 0 entries of 6 jobs")) == (0, True), out + err


def test_after_kills_while_files_and_commits_are_written_every_window_is_there_once(
    redis: RedisServer, archivers: Archivers
) -> None:
    fill(redis.url, JOBS, 2_000)
    for pattern in (
        "frames/**/*.parquet",
        "frames/_delta_log/*1.json",
        "activities/_delta_log/*1.json",
        "rollups/**/*.parquet",
    ):
        archivers.kill_when(archivers.has(pattern))
    code, out, err = archivers.run()
    assert code == 0, out + err
    assert_archived_once(redis.url, archivers.place, JOBS)


def test_two_archivers_at_once_do_no_harm(redis: RedisServer, archivers: Archivers) -> None:
    fill(redis.url, JOBS, 2_000)
    both = [archivers.start(), archivers.start()]
    said = [process.communicate(timeout=PATIENCE_S) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert_archived_once(redis.url, archivers.place, JOBS)


def test_a_job_that_cannot_be_archived_is_told_and_the_others_are(
    redis: RedisServer, archivers: Archivers
) -> None:
    from redis import Redis

    fill(redis.url, JOBS, 20)
    client = Redis.from_url(redis.url)
    client.delete(frames(JOBS[0]).key)
    client.set(frames(JOBS[0]).key, "a string")
    code, out, err = archivers.run()
    assert code == 1, out + err
    assert f"{JOBS[0]}: curtail:job:{JOBS[0]}:frames in Redis is no stream" in out
    assert_archived_once(redis.url, archivers.place, JOBS[1:])


def test_an_archive_that_cannot_be_written_is_told_and_redis_keeps_all(
    redis: RedisServer, archivers: Archivers
) -> None:
    fill(redis.url, JOBS, 20)
    archivers.folder.write_text("a file where the archive's folder should be")
    code, out, err = archivers.run()
    assert (code, out.startswith("the archive is unavailable: ")) == (1, True), out + err
    archivers.folder.unlink()
    code, out, err = archivers.run()
    assert code == 0, out + err
    assert_archived_once(redis.url, archivers.place, JOBS)
    assert Archive(archivers.place).jobs(0, 1 << 53) == sorted(JOBS)

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collectors.formats.keys import frames
from dashboard.cli.archive import duration_s
from dashboard.cli.root import ROOT
from dashboard.history.archive import Archive, Place
from dashboard.history.group import archive_group
from dashboard.testing.stack import RedisServer
from tests.dashboard.history.streamed import fill

JOB = "orders.scored"


def archive(tmp_path: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dashboard.cli", "archive", *words],
        cwd=ROOT,
        env={**os.environ, "CURTAIL_DATA_DIR": str(tmp_path), **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3_600)])
def test_a_duration_has_a_unit(text: str, seconds: int) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "0m", "m", "-5m", "5 minutes", "1.5h", "५m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no duration such as"):
        duration_s(text)


def test_without_jobs_no_spark_is_started(redis: RedisServer, tmp_path: Path) -> None:
    done = archive(tmp_path, "--once", REDIS_URL=redis.url, JAVA_HOME="/nowhere", PATH="/nowhere")
    assert (done.returncode, done.stdout) == (0, "archived 0 entries of 0 jobs in 0 MB\n")


def test_a_redis_that_is_away_is_told(redis: RedisServer, tmp_path: Path) -> None:
    redis.stop()
    done = archive(tmp_path, "--once", REDIS_URL=redis.url)
    assert done.returncode == 1
    assert done.stdout.startswith("Redis is unavailable: ")


def test_a_spark_that_cannot_start_is_told_and_loses_nothing(
    redis: RedisServer, tmp_path: Path
) -> None:
    fill(redis.url, [JOB], 5)
    done = archive(tmp_path, "--once", REDIS_URL=redis.url, JAVA_HOME="/nowhere", PATH="/nowhere")
    assert done.returncode == 1
    assert done.stdout.startswith("Spark cannot run: ")
    assert len(done.stdout.splitlines()) == 1


def test_an_archive_that_is_off_is_said(tmp_path: Path) -> None:
    done = archive(tmp_path, "--once", CURTAIL_ARCHIVE="off")
    assert (done.returncode, done.stderr) == (
        0,
        "curtail: CURTAIL_ARCHIVE is off: there is nothing to do\n",
    )


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    done = archive(tmp_path, "--once", CURTAIL_ARCHIVE_DAYS="some")
    assert done.returncode == 2
    assert done.stderr.startswith("curtail: CURTAIL_ARCHIVE_DAYS: 'some' is not a number of days")


def test_upkeep_drops_days_that_are_past(redis: RedisServer, tmp_path: Path) -> None:
    fill(redis.url, [JOB], 50)
    place = Place(str(tmp_path / "archive"))
    assert archive_group(redis.url, place, [JOB]).well
    done = archive(tmp_path, "--upkeep", CURTAIL_ARCHIVE_DAYS="3")
    assert done.returncode == 0, done.stderr
    assert "dropped 5 of past days" in done.stdout
    assert Archive(place).span_ms(frames(JOB)) is None


def test_upkeep_of_an_archive_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    log = tmp_path / "archive" / "frames" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("no commit")
    done = archive(tmp_path, "--upkeep")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("the archive is unavailable: ")

"""Archivers that race and archivers that are killed: nothing is lost and nothing is doubled."""

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from dashboard.history.archive import Archive
from tests.dashboard.history import streams
from tests.dashboard.history.archiver_process import ACTIVITIES, FRAMES, POINTS, run
from tests.dashboard.history.streams import archive, everything
from tests.waiting import until

PATIENCE_S = 120


@contextmanager
def archiver(
    folder: Path, entries: int, chunk: int, *points: str
) -> Iterator[subprocess.Popen[str]]:
    """An archiver that is ready and waits for `begin`."""
    command = [sys.executable, "-m", "tests.dashboard.history.archiver_process"]
    with subprocess.Popen(
        [*command, str(folder), str(entries), str(chunk), *points],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def said(process: subprocess.Popen[str]) -> int:
    """How often it was overtaken, once it has archived everything."""
    assert process.stdout
    line = process.stdout.readline()
    assert process.wait(PATIENCE_S) == 0
    return int(line)


def assert_all_once(kept: Archive, count: int) -> None:
    assert everything(kept, FRAMES) == streams.frames(count)
    assert everything(kept, ACTIVITIES) == streams.payloads(count)
    last_ms = streams.frames(count)[-1].at_ms
    assert kept.archived_ms([FRAMES, ACTIVITIES]) == {FRAMES: last_ms, ACTIVITIES: last_ms}
    assert kept.damaged() == []


def test_two_archivers_at_once_archive_each_entry_once(tmp_path: Path) -> None:
    entries, chunk = 300, 5
    with archiver(tmp_path, entries, chunk) as one, archiver(tmp_path, entries, chunk) as other:
        begin(one)
        begin(other)
        overtaken = said(one) + said(other)
    assert_all_once(archive(tmp_path), entries)
    assert overtaken > 0, "they never met"


@pytest.mark.parametrize("point", POINTS)
def test_an_archiver_killed_at_any_point_loses_and_doubles_nothing(
    tmp_path: Path, point: str
) -> None:
    entries, chunk = 40, 10
    for _ in range(2):
        with archiver(tmp_path, entries, chunk, point) as killed:
            begin(killed)
            assert killed.wait(PATIENCE_S) == -signal.SIGKILL
        kept = archive(tmp_path)
        marks = kept.archived_ms([FRAMES, ACTIVITIES])
        for stream in (FRAMES, ACTIVITIES):
            found = everything(kept, stream)
            assert (found[-1].at_ms if found else None) == marks.get(stream)
    assert run(tmp_path, entries, chunk) == 0
    assert_all_once(archive(tmp_path), entries)


def test_archivers_killed_at_random_lose_and_double_nothing(tmp_path: Path) -> None:
    entries, chunk = 400, 5
    chance = random.Random(15)
    for _ in range(5):
        with archiver(tmp_path, entries, chunk) as killed:
            enough = commits(tmp_path) + chance.randint(1, 6)
            begin(killed)
            # What it does right after a commit is the next append, at whatever place of it.
            until(partial(has_commits, tmp_path, enough), PATIENCE_S, 0.001)
            killed.kill()
            killed.wait()
    assert run(tmp_path, entries, chunk) == 0
    assert_all_once(archive(tmp_path), entries)


def has_commits(folder: Path, enough: int) -> bool:
    return commits(folder) >= enough


def commits(folder: Path) -> int:
    return len(list(folder.rglob("_delta_log/*.json")))

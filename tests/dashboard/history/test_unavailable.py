import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from collectors.formats import keys
from collectors.formats.keys import Entry
from dashboard.history.archive import Archive, ArchiveUnavailable, Place
from dashboard.history.delta import Log
from tests.dashboard.history import streams
from tests.dashboard.history.limits import largest_file
from tests.dashboard.history.streams import archive, everything

ACTIVITIES = keys.activities("orders.scored")
# A mebibyte that does not compress.
MUCH = [Entry(streams.START_MS + 100_000, random.Random(15).randbytes(1 << 20))]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("a file is in the way")
    with pytest.raises(ArchiveUnavailable, match="archive"):
        archive(tmp_path).append({ACTIVITIES: streams.payloads(3)}, {})


def test_a_log_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    streams.append(archive(tmp_path), ACTIVITIES, streams.payloads(3))
    log = tmp_path / "archive" / "activities" / "_delta_log"
    (log / f"{1:020}.json").write_text("{ not a commit")
    with pytest.raises(ArchiveUnavailable, match="archive"):
        everything(archive(tmp_path), ACTIVITIES)


def test_a_storage_that_does_not_answer_is_said() -> None:
    nobody = Place(
        "s3a://bucket/archive",
        {
            "aws_endpoint": "http://127.0.0.1:9",
            "aws_allow_http": "true",
            "aws_region": "eu-west-1",
            "aws_access_key_id": "nobody",
            "aws_secret_access_key": "nothing",
            "max_retries": "0",
            "timeout": "2s",
        },
    )
    with pytest.raises(ArchiveUnavailable, match="s3a://bucket/archive"):
        Archive(nobody).entries(ACTIVITIES, 0, 1)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of half a mebibyte; skips where nobody may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "curtail-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def assert_stops_and_goes_on(folder: Path, limited: Archive) -> None:
    """What does not fit is refused whole, what is there is read, and less is appended again."""
    seen = limited.archived_ms([ACTIVITIES])
    for _ in range(2):
        with pytest.raises(ArchiveUnavailable):
            limited.append({ACTIVITIES: MUCH}, seen)
    for reader in (limited, archive(folder)):
        assert everything(reader, ACTIVITIES) == streams.payloads(3)
        assert reader.archived_ms([ACTIVITIES]) == seen
        assert reader.damaged() == []


def test_a_full_disk_stops_the_archive_and_leaves_it_readable(tmp_path: Path) -> None:
    with small_disk(tmp_path) as folder:
        kept = archive(folder)
        streams.append(kept, ACTIVITIES, streams.payloads(3))
        assert_stops_and_goes_on(folder, kept)


def test_a_file_that_may_not_grow_stops_the_archive_and_leaves_it_readable(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    streams.append(kept, ACTIVITIES, streams.payloads(3))
    with largest_file(100_000):
        assert_stops_and_goes_on(tmp_path, kept)
    streams.append(kept, ACTIVITIES, MUCH)
    assert everything(kept, ACTIVITIES) == streams.payloads(3) + MUCH


def test_a_commit_that_cannot_be_written_leaves_the_marks_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = archive(tmp_path)
    streams.append(kept, ACTIVITIES, streams.payloads(3))
    more = streams.payloads(5)
    commit = Log.commit

    def cramped(*arguments: Any) -> None:
        with largest_file(50):
            commit(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Log, "commit", cramped)
        with pytest.raises(ArchiveUnavailable):
            streams.append(kept, ACTIVITIES, more)
    assert everything(archive(tmp_path), ACTIVITIES) == more[:3]
    streams.append(kept, ACTIVITIES, more)
    assert everything(archive(tmp_path), ACTIVITIES) == more

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.formats import keys
from dashboard.history.archive import Archive
from tests.dashboard.history import streams
from tests.dashboard.history.limits import largest_file
from tests.dashboard.history.streams import archive, everything

FRAMES = keys.frames("orders.scored")


def overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:140] = bytes(40)
    path.write_bytes(content)


def overwritten_at_the_end(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-60:-8] = b"\xff" * 52
    path.write_bytes(content)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def missing(path: Path) -> None:
    path.unlink()


def another(path: Path) -> None:
    """A whole file, and not the one that the log means."""
    path.write_bytes(max(path.parent.glob("*.parquet"), key=_size).read_bytes())


def _size(path: Path) -> int:
    return path.stat().st_size


def three_files(folder: Path) -> tuple[Archive, list[Path]]:
    """An archive of three files by time, of which the last is the largest."""
    kept = archive(folder)
    paths: list[Path] = []
    for until in (50, 100, 200):
        streams.append(kept, FRAMES, streams.frames(until))
        paths += [path for path in streams.data_files(kept, "frames") if path not in paths]
    return kept, paths


@pytest.mark.parametrize(
    "damage", [overwritten, overwritten_at_the_end, truncated, emptied, missing, another]
)
def test_a_damaged_file_is_named_and_all_others_are_read(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    kept, paths = three_files(tmp_path)
    damage(paths[1])
    frames = streams.frames(200)
    assert everything(kept, FRAMES) == frames[:50] + frames[100:]
    [found] = kept.damaged()
    assert Path(kept.place.root) / found.path == paths[1]
    assert (found.table, found.job_id, found.rows) == ("frames", "orders.scored", 50)
    assert (found.oldest_ms, found.newest_ms) == (frames[50].at_ms, frames[99].at_ms)
    assert found.why


def test_a_damaged_file_is_set_aside_for_every_reader_until_its_record_is_deleted(
    tmp_path: Path,
) -> None:
    kept, paths = three_files(tmp_path)
    content = paths[1].read_bytes()
    truncated(paths[1])
    everything(kept, FRAMES)
    paths[1].write_bytes(content)
    frames = streams.frames(200)
    assert everything(archive(tmp_path), FRAMES) == frames[:50] + frames[100:]
    [record] = (tmp_path / "archive" / "damaged").iterdir()
    record.unlink()
    assert everything(archive(tmp_path), FRAMES) == frames


def test_a_damaged_file_stops_no_append(tmp_path: Path) -> None:
    kept, paths = three_files(tmp_path)
    emptied(paths[0])
    streams.append(kept, FRAMES, streams.frames(210))
    assert everything(kept, FRAMES) == streams.frames(210)[50:]
    assert len(kept.damaged()) == 1


def test_a_range_without_the_damaged_file_does_not_find_it(tmp_path: Path) -> None:
    kept, paths = three_files(tmp_path)
    emptied(paths[0])
    frames = streams.frames(200)
    assert kept.entries(FRAMES, frames[100].at_ms, frames[-1].at_ms + 1) == frames[100:]
    assert kept.damaged() == []


def test_a_damaged_file_is_set_aside_where_no_record_can_be_written(tmp_path: Path) -> None:
    kept, paths = three_files(tmp_path)
    (tmp_path / "archive" / "damaged").mkdir()
    emptied(paths[0])
    with largest_file(0):
        assert everything(kept, FRAMES) == streams.frames(200)[50:]
    assert everything(kept, FRAMES) == streams.frames(200)[50:]
    assert everything(archive(tmp_path), FRAMES) == streams.frames(200)[50:]
    assert len(kept.damaged()) == 1

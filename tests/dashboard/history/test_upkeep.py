import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from collectors.formats import keys
from collectors.formats.keys import Entry
from dashboard.history import data_files, upkeep
from dashboard.history.archive import Archive, Place
from dashboard.history.upkeep import Tidied, tidy
from tests.dashboard.history import streams
from tests.dashboard.history.streams import MIDNIGHT_MS, archive, everything

JOB = "orders.scored"
FRAMES = keys.frames(JOB)
FIVE_MINUTES_MS = 300_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
KEEP_DAYS = 30


def filled(folder: Path, files: int, rows: int = 20) -> tuple[Archive, list[Entry]]:
    """An archive of the first hours of a day, a file for every five minutes."""
    kept = archive(folder)
    expected: list[Entry] = []
    for number in range(files):
        expected += streams.frames(rows, MIDNIGHT_MS + number * FIVE_MINUTES_MS)
        streams.append(kept, FRAMES, expected)
    return kept, expected


def named(kept: Archive, table: str = "frames") -> list[str]:
    return list(DeltaTable(kept.place.table(table)).file_uris())


def test_the_files_of_an_hour_become_one(tmp_path: Path) -> None:
    kept, expected = filled(tmp_path, files=12)
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS) == Tidied(12, 1, 0, 0)
    assert len(named(kept)) == 1
    assert everything(kept, FRAMES) == expected
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS) == Tidied()


def test_fewer_files_wait_until_their_day_is_over(tmp_path: Path) -> None:
    kept, expected = filled(tmp_path, files=11)
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS).merged_files == 0
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + DAY_MS + 2 * HOUR_MS).into_files == 1
    assert everything(kept, FRAMES) == expected


def test_a_day_that_is_over_is_one_file_for_each_job(tmp_path: Path) -> None:
    kept, _ = filled(tmp_path, files=13)
    streams.append(kept, keys.frames("another"), streams.frames(3, MIDNIGHT_MS))
    tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + 2 * HOUR_MS)
    tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + 2 * DAY_MS)
    assert len(named(kept)) == 2


def test_merging_keeps_marks_and_the_next_append_goes_on(tmp_path: Path) -> None:
    kept, expected = filled(tmp_path, files=12)
    before = kept.archived_ms([FRAMES])
    tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS)
    assert kept.archived_ms([FRAMES]) == before
    expected += streams.frames(5, MIDNIGHT_MS + HOUR_MS)
    streams.append(kept, FRAMES, expected)
    assert everything(kept, FRAMES) == expected


def test_roll_ups_are_merged_too(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    until_ms = -1
    for at_ms in range(MIDNIGHT_MS, MIDNIGHT_MS + 20_000, 1000):
        row = pa.table({"at_ms": pa.array([at_ms], pa.int64()), "p99_us": pa.array([1.5])})
        kept.append_rolled(JOB, 1000, row, until_ms, at_ms + 1000)
        until_ms = at_ms + 1000
    before = kept.read_columns(JOB, 1000, 0, 1 << 50)
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS).merged_files == 20
    assert kept.read_columns(JOB, 1000, 0, 1 << 50) == before
    assert kept.rolled_ms(JOB, 1000) == until_ms


def test_old_days_go_and_are_not_archived_again(tmp_path: Path) -> None:
    kept, old = filled(tmp_path, files=2)
    young = streams.frames(3, MIDNIGHT_MS + 5 * DAY_MS)
    streams.append(kept, FRAMES, old + young)
    assert tidy(kept.place, 5, MIDNIGHT_MS + 5 * DAY_MS).dropped_files == 0
    assert everything(kept, FRAMES) == old + young
    assert tidy(kept.place, 4, MIDNIGHT_MS + 5 * DAY_MS).dropped_files == 1
    assert everything(kept, FRAMES) == young
    streams.append(kept, FRAMES, old + young)
    assert everything(kept, FRAMES) == young


def test_a_job_of_which_all_days_went_keeps_its_mark(tmp_path: Path) -> None:
    kept, old = filled(tmp_path, files=2)
    tidy(kept.place, 1, MIDNIGHT_MS + 9 * DAY_MS)
    assert everything(kept, FRAMES) == []
    assert kept.archived_ms([FRAMES]) == {FRAMES: old[-1].at_ms}


def test_the_record_of_a_damaged_file_goes_with_its_day(tmp_path: Path) -> None:
    kept, _ = filled(tmp_path, files=1)
    os.truncate(streams.data_files(kept, "frames")[0], 0)
    everything(kept, FRAMES)
    assert len(kept.damaged()) == 1
    tidy(kept.place, 1, MIDNIGHT_MS + 9 * DAY_MS)
    assert kept.damaged() == []


def test_a_damaged_file_is_not_merged_and_all_others_are(tmp_path: Path) -> None:
    kept, expected = filled(tmp_path, files=13)
    os.truncate(Path(named(kept)[0].removeprefix("file://")), 100)
    later_ms = MIDNIGHT_MS + 2 * DAY_MS
    assert tidy(kept.place, KEEP_DAYS, later_ms).into_files == 0
    assert len(kept.damaged()) == 1
    assert tidy(kept.place, KEEP_DAYS, later_ms) == Tidied(12, 1, 0, 0)
    assert len(everything(kept, FRAMES)) == len(expected) - 20


def test_what_no_log_names_is_deleted_a_day_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, expected = filled(tmp_path, files=12)
    folder = streams.data_files(kept, "frames")[0].parent
    orphan, young = folder / "orphan.parquet", folder / "young.parquet"
    orphan.write_bytes(b"of an archiver that was killed")
    young.write_bytes(b"of one that is about to commit")
    os.utime(orphan, (1, 1))
    # The files that are merged were removed long ago.
    monkeypatch.setattr(data_files, "_now_ms", lambda: 1)
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS).deleted_files == 13
    left = streams.data_files(kept, "frames")
    assert young in left
    assert len(left) == 2
    assert everything(kept, FRAMES) == expected
    os.utime(young, (1, 1))
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + 2 * HOUR_MS).deleted_files == 0
    assert young.exists()
    assert tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + 8 * HOUR_MS).deleted_files == 1
    assert not young.exists()
    assert everything(kept, FRAMES) == expected


def test_empty_folders_of_past_days_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, _ = filled(tmp_path, files=1)
    monkeypatch.setattr(data_files, "_now_ms", lambda: 1)
    for path in streams.data_files(kept, "frames"):
        os.utime(path, (1, 1))
    tidy(kept.place, 1, MIDNIGHT_MS + 9 * DAY_MS)
    assert list((tmp_path / "archive" / "frames").glob("day=*")) == []


def test_marks_outlive_checkpoints_and_expired_logs(tmp_path: Path) -> None:
    kept, expected = filled(tmp_path, files=3)
    table = DeltaTable(kept.place.table("frames"))
    table.create_checkpoint()
    log = tmp_path / "archive" / "frames" / "_delta_log"
    for commit in log.glob("*.json"):
        commit.unlink()
    assert archive(tmp_path).archived_ms([FRAMES]) == {FRAMES: expected[-1].at_ms}
    assert everything(archive(tmp_path), FRAMES) == expected


def test_an_archive_that_is_not_there_needs_no_upkeep(tmp_path: Path) -> None:
    assert tidy(Place(str(tmp_path / "none")), KEEP_DAYS, MIDNIGHT_MS) == Tidied()
    assert list(tmp_path.iterdir()) == []


def test_an_archive_of_no_days_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        tidy(Place(str(tmp_path)), 0, MIDNIGHT_MS)


def beside(work: Callable[[], object], *others: Callable[[threading.Event], object]) -> None:
    """Runs `work` while the others go on until they are told to stop; raises what any raises."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(other, stop) for other in others]
        try:
            work()
        finally:
            stop.set()
        for each in running:
            each.result()


def test_upkeep_twice_at_once_harms_neither_a_writer_nor_a_reader(tmp_path: Path) -> None:
    expected = [
        entry
        for number in range(60)
        for entry in streams.frames(5, MIDNIGHT_MS + number * FIVE_MINUTES_MS)
    ]
    tidied: list[Tidied] = []
    read: list[int] = []

    def write() -> None:
        kept = archive(tmp_path)
        for until in range(5, len(expected) + 1, 5):
            streams.append(kept, FRAMES, expected[:until])

    def keep_tidy(stop: threading.Event) -> None:
        while not stop.is_set():
            tidied.append(tidy(Place(str(tmp_path / "archive")), KEEP_DAYS, MIDNIGHT_MS + HOUR_MS))

    def keep_reading(stop: threading.Event) -> None:
        kept = archive(tmp_path)
        while not stop.is_set():
            found = everything(kept, FRAMES)
            assert found == expected[: len(found)]
            assert len(found) >= max(read, default=0)
            read.append(len(found))

    beside(write, keep_tidy, keep_tidy, keep_reading)
    kept = archive(tmp_path)
    assert everything(kept, FRAMES) == expected
    assert kept.damaged() == []
    assert sum(each.merged_files for each in tidied) > 0
    assert len(set(read)) > 1


def test_a_reader_whose_files_are_deleted_under_it_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, expected = filled(tmp_path, files=12)
    monkeypatch.setattr(upkeep, "_UNNAMED_KEPT_HOURS", 0)
    monkeypatch.setattr(data_files, "_now_ms", lambda: 1)
    read = data_files.read
    tidied: list[Tidied] = []

    def tidy_then_read(*arguments: object) -> pa.Table:
        if not tidied:
            tidied.append(Tidied())
            tidied.append(tidy(kept.place, KEEP_DAYS, MIDNIGHT_MS + HOUR_MS))
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(data_files, "read", tidy_then_read)
    assert everything(kept, FRAMES) == expected
    assert len(streams.data_files(kept, "frames")) == 1
    assert kept.damaged() == []

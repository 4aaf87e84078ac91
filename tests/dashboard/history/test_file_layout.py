"""How the archive's files are laid out: small, sorted, and read a quarter of an hour at a time."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import keys
from collectors.formats.keys import Entry
from dashboard.history import data_files
from dashboard.history.compaction import plan
from dashboard.history.data_files import DataFile
from dashboard.history.tables import ROWS_PER_GROUP
from dashboard.history.upkeep import tidy
from tests.dashboard.history import streams
from tests.dashboard.history.streams import MIDNIGHT_MS, archive, everything
from tests.techniques.detection import recorded

FRAMES = keys.frames("orders.scored")
QUARTER_MS = 900_000
HOUR_MS = 3_600_000


def test_a_quarter_of_an_hour_of_a_day_reads_two_row_groups(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    entries = [Entry(MIDNIGHT_MS + at * 50, b"%d" % at) for at in range(5 * 72_000)]
    for start in range(0, len(entries), 36_000):
        kept.append({FRAMES: entries[start : start + 36_000]}, kept.archived_ms([FRAMES]))
    tidy(kept.place, 30, MIDNIGHT_MS + 48 * HOUR_MS)
    [path] = DeltaTable(kept.place.table("frames")).file_uris()
    metadata = pq.read_metadata(path)
    assert metadata.num_rows == len(entries)
    assert metadata.num_row_groups == len(entries) // ROWS_PER_GROUP
    start_ms = MIDNIGHT_MS + HOUR_MS + 123_450
    groups = data_files.groups_of(metadata, 0, start_ms, start_ms + QUARTER_MS)
    assert len(groups) == 2
    inside = kept.entries(FRAMES, start_ms, start_ms + QUARTER_MS)
    first = (start_ms - MIDNIGHT_MS) // 50
    assert inside == entries[first : first + QUARTER_MS // 50]


@pytest.mark.parametrize("setting", ["calm", "scheduled", "statistical"])
def test_a_recorded_window_takes_at_most_60_bytes(tmp_path: Path, setting: str) -> None:
    entries = [
        entry
        for second in recorded.seconds(setting)
        for entry in second.get(recorded.STREAMS[0], [])
    ]
    appended = archive(tmp_path).append({FRAMES: entries}, {})
    assert appended.entries == len(entries)
    assert appended.bytes / appended.entries <= 60


def test_any_reader_of_delta_tables_reads_the_columns(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(400)
    kept.append({FRAMES: frames}, {})
    rows = DeltaTable(kept.place.table("frames")).to_pyarrow_table().sort_by("at_ms")
    assert rows["at_ms"].to_pylist() == [entry.at_ms for entry in frames]
    assert rows["sequence"].to_pylist() == list(range(400))
    assert set(rows["job"].to_pylist()) == {"orders.scored"}
    assert set(rows["day"].to_pylist()) == {"2026-11-18", "2026-11-19"}
    assert rows["s16"].null_count == 400


@given(
    starts=st.lists(st.integers(0, 100), unique=True, max_size=30),
    jobs=st.integers(1, 3),
    now_ms=st.integers(0, 4 * 24 * HOUR_MS),
)
def test_a_plan_merges_files_of_one_partition_that_follow_each_other(
    starts: list[int], jobs: int, now_ms: int
) -> None:
    files = [
        DataFile(
            path=f"{start}",
            partition={"day": data_files.day_of(start * HOUR_MS), "job": f"{start % jobs}"},
            rows=1,
            size_bytes=1,
            oldest_ms=start * HOUR_MS,
            newest_ms=start * HOUR_MS + HOUR_MS // 2,
        )
        for start in starts
    ]
    groups = plan(files, now_ms)
    for group in groups:
        assert len(group) > 1
        assert len({tuple(file.partition.values()) for file in group}) == 1
        assert group == sorted(group, key=lambda file: file.oldest_ms)
    merged = [file.path for group in groups for file in group]
    assert len(merged) == len(set(merged))


def test_files_that_overlap_are_not_merged() -> None:
    day = {"day": "2026-11-18", "job": "orders.scored"}
    files = [DataFile(f"{at}", day, 1, 1, at, at + 100) for at in (0, 50)]
    assert plan(files, 1 << 42) == []


def test_everything_is_readable_after_a_merge_of_files_with_different_columns(
    tmp_path: Path,
) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(50, MIDNIGHT_MS)
    other = Entry(MIDNIGHT_MS + 5_000, b"no frame")
    streams.append(kept, FRAMES, frames)
    streams.append(kept, FRAMES, [other])
    tidy(kept.place, 30, MIDNIGHT_MS + 48 * HOUR_MS)
    assert len(DeltaTable(kept.place.table("frames")).file_uris()) == 1
    assert everything(kept, FRAMES) == [*frames, other]

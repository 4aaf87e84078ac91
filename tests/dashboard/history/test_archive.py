from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.formats import keys, wire
from collectors.formats.keys import Entry
from dashboard.history import sections
from dashboard.history.archive import Appended, Archive, Overtaken, Place
from dashboard.history.tables import LAYOUTS
from dashboard.history.upkeep import tidy
from tests.dashboard.history import streams
from tests.dashboard.history.streams import MIDNIGHT_MS, START_MS, archive, everything

JOB = "orders.scored"
FRAMES, ACTIVITIES = keys.frames(JOB), keys.activities(JOB)


def test_an_archive_that_is_only_asked_makes_nothing(tmp_path: Path) -> None:
    empty = archive(tmp_path)
    assert empty.archived_ms([FRAMES]) == {}
    assert empty.entries(FRAMES, 0, 1 << 50) == []
    assert empty.span_ms(FRAMES) is None
    assert empty.jobs(0, 1 << 50) == []
    assert empty.rolled_ms(JOB, 1000) == -1
    assert len(empty.read_columns(JOB, 1000, 0, 1 << 50)) == 0
    assert empty.damaged() == []
    assert empty.append({FRAMES: []}, {}) == Appended()
    assert list(tmp_path.iterdir()) == []


def test_both_streams_come_back_byte_for_byte(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames, activities = streams.frames(500), streams.payloads(20)
    appended = kept.append({FRAMES: frames, ACTIVITIES: activities}, {})
    assert (appended.entries, appended.unreadable) == (520, 0)
    assert everything(kept, FRAMES) == frames
    assert everything(kept, ACTIVITIES) == activities
    assert kept.archived_ms([FRAMES, ACTIVITIES, keys.frames("another")]) == {
        FRAMES: frames[-1].at_ms,
        ACTIVITIES: activities[-1].at_ms,
    }
    assert kept.span_ms(FRAMES) == (frames[0].at_ms, frames[-1].at_ms)


def test_what_another_process_reads_is_what_was_appended(tmp_path: Path) -> None:
    streams.append(archive(tmp_path), FRAMES, streams.frames(3))
    assert everything(archive(tmp_path), FRAMES) == streams.frames(3)


def test_a_range_has_its_start_and_not_its_end(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    streams.append(kept, FRAMES, frames := streams.frames(10))
    assert kept.entries(FRAMES, frames[2].at_ms, frames[5].at_ms) == frames[2:5]
    assert kept.entries(FRAMES, frames[5].at_ms, frames[2].at_ms) == []


def test_a_day_has_a_folder_of_its_own_and_a_range_over_midnight_no_seam(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(400)
    appended = kept.append({FRAMES: frames}, {})
    assert appended.files == 2
    days = {path.parent.parent.name for path in streams.data_files(kept, "frames")}
    assert days == {"day=2026-11-18", "day=2026-11-19"}
    start_ms, end_ms = MIDNIGHT_MS - 500, MIDNIGHT_MS + 500
    assert kept.entries(FRAMES, start_ms, end_ms) == frames[190:210]


def test_jobs_are_those_with_windows_in_the_range(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    kept.append(
        {
            keys.frames("early"): streams.frames(10),
            keys.frames("late"): streams.frames(10, START_MS + 60_000),
        },
        {},
    )
    assert kept.jobs(START_MS, START_MS + 1000) == ["early"]
    assert kept.jobs(START_MS + 450, START_MS + 60_001) == ["early", "late"]
    assert kept.jobs(START_MS + 500, START_MS + 60_000) == []


def test_appending_the_same_again_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    kept.append({FRAMES: streams.frames(10)}, {})
    with pytest.raises(Overtaken, match=JOB):
        kept.append({FRAMES: streams.frames(20)}, {})
    assert everything(kept, FRAMES) == streams.frames(10)


def test_what_was_archived_already_is_left_out(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(20)
    kept.append({FRAMES: frames[:10]}, {})
    appended = kept.append({FRAMES: frames}, kept.archived_ms([FRAMES]))
    assert appended.entries == 10
    assert everything(kept, FRAMES) == frames


def test_a_clock_that_jumps_back_doubles_no_window(tmp_path: Path) -> None:
    """Redis refuses entries older than its newest; an archiver may still be handed some."""
    kept = archive(tmp_path)
    frames = streams.frames(10)
    streams.append(kept, FRAMES, frames)
    again = streams.frames(12, START_MS - 100)
    streams.append(kept, FRAMES, again)
    assert everything(kept, FRAMES) == frames
    streams.append(kept, FRAMES, [frames[3], *streams.frames(2, START_MS + 500)])
    assert [entry.at_ms for entry in everything(kept, FRAMES)] == [
        START_MS + 50 * number for number in range(12)
    ]


def test_a_window_that_comes_twice_is_kept_as_it_came_first(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    one, two = streams.payloads(2)
    appended = kept.append({ACTIVITIES: [two, one, Entry(one.at_ms, b"again")]}, {})
    assert appended.entries == 2
    assert everything(kept, ACTIVITIES) == [one, two]


def test_a_time_that_no_clock_shows_stops_nobody_else(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(3)
    appended = kept.append({FRAMES: [*frames, Entry((1 << 64) - 1, b"?")]}, {})
    assert appended.entries == 3
    assert appended.unreadable == 1
    assert everything(kept, FRAMES) == frames


def test_frames_of_an_older_version_are_kept_and_counted(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    frames = streams.frames(4)
    older = Entry(frames[1].at_ms, bytes((wire.MAGIC, 0)) + b"as it was")
    mixed = [frames[0], older, frames[2], Entry(frames[3].at_ms, b"")]
    assert kept.append({FRAMES: mixed}, {}).unreadable == 2
    assert everything(kept, FRAMES) == mixed


def test_an_archive_of_a_version_with_fewer_sections_is_read_and_widened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = streams.frames(20)
    of_now = LAYOUTS["frames"]
    fewer = [field for field in of_now.columns if field.name not in ("s5", "s20", "s21")]
    with monkeypatch.context() as older:
        older.setitem(LAYOUTS, "frames", replace(of_now, columns=pa.schema(fewer)))
        older.setattr(sections, "_KNOWN", frozenset({1, 6}))
        streams.append(archive(tmp_path), FRAMES, frames[:10])
    kept = archive(tmp_path)
    assert everything(kept, FRAMES) == frames[:10]
    streams.append(kept, FRAMES, frames)
    assert everything(kept, FRAMES) == frames
    columns = [field.name for field in DeltaTable(kept.place.table("frames")).schema().fields]
    assert {"s5", "s20", "s21"} <= set(columns)
    tidy(kept.place, 30, MIDNIGHT_MS + 10 * 86_400_000)
    assert len(DeltaTable(kept.place.table("frames")).file_uris()) == 1
    assert everything(kept, FRAMES) == frames


def test_a_job_may_be_called_anything(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    odd = [keys.frames(name) for name in ("a/b", "../up", "100%", "ä b=c", "day=1", "j'); --")]
    kept.append({stream: streams.frames(2) for stream in odd}, {})
    assert kept.jobs(0, 1 << 50) == sorted(stream.job_id for stream in odd)
    for stream in odd:
        assert everything(archive(tmp_path), stream) == streams.frames(2)
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


def test_an_archive_that_was_deleted_and_made_anew_is_read_anew(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    for number in range(5):
        streams.append(kept, FRAMES, streams.frames(number + 1))
    (tmp_path / "archive").rename(tmp_path / "elsewhere")
    assert kept.archived_ms([FRAMES]) == {}
    streams.append(archive(tmp_path), FRAMES, streams.frames(2))
    assert everything(kept, FRAMES) == streams.frames(2)
    assert kept.damaged() == []


_PAYLOADS = st.lists(st.binary(max_size=40), max_size=8)


@settings(max_examples=40, deadline=None)
@given(
    appends=st.lists(_PAYLOADS, min_size=1, max_size=4),
    gap_ms=st.integers(1, 40_000_000),
    bounds=st.tuples(st.floats(-0.1, 1.1), st.floats(-0.1, 1.1)),
)
def test_any_bytes_come_back_in_order_for_any_range(
    appends: list[list[bytes]], gap_ms: int, bounds: tuple[float, float]
) -> None:
    with TemporaryDirectory() as folder:
        kept = Archive(Place(folder))
        expected: list[Entry] = []
        for payloads in appends:
            first_ms = START_MS + len(expected) * gap_ms
            news = [Entry(first_ms + at * gap_ms, data) for at, data in enumerate(payloads)]
            for stream in (FRAMES, ACTIVITIES):
                streams.append(kept, stream, news)
            expected += news
        width_ms = (len(expected) + 1) * gap_ms
        start_ms, end_ms = (START_MS + int(bound * width_ms) for bound in bounds)
        inside = [entry for entry in expected if start_ms <= entry.at_ms < end_ms]
        assert kept.entries(FRAMES, start_ms, end_ms) == inside
        assert kept.entries(ACTIVITIES, start_ms, end_ms) == inside


def rolled(*times_ms: int) -> pa.Table:
    hosts = pa.array([[("node-a", 1.5)] for _ in times_ms], pa.map_(pa.string(), pa.float64()))
    return pa.table(
        {
            "at_ms": pa.array(times_ms, pa.int64()),
            "windows": pa.array([20 for _ in times_ms], pa.int32()),
            "host_cpu": hosts,
            "latency": pa.array([b"\x00" for _ in times_ms], pa.binary()),
        }
    )


def test_roll_ups_come_back_with_every_column_and_absent_ones_null(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    kept.append_rolled(JOB, 1000, rolled(MIDNIGHT_MS, MIDNIGHT_MS - 1000), -1, MIDNIGHT_MS + 1000)
    assert kept.rolled_ms(JOB, 1000) == MIDNIGHT_MS + 1000
    assert kept.rolled_ms(JOB, 60_000) == -1
    found = kept.read_columns(JOB, 1000, 0, 1 << 50)
    assert found["at_ms"].to_pylist() == [MIDNIGHT_MS - 1000, MIDNIGHT_MS]
    assert found["host_cpu"].to_pylist() == [[("node-a", 1.5)]] * 2
    assert found["p99_us"].to_pylist() == [None, None]
    only = kept.read_columns(JOB, 1000, MIDNIGHT_MS, 1 << 50, ["windows", "p99_us"])
    assert only.to_pylist() == [{"windows": 20, "p99_us": None}]
    assert len(kept.read_columns("another", 1000, 0, 1 << 50)) == 0


def test_roll_ups_are_appended_once(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    kept.append_rolled(JOB, 1000, rolled(0, 1000), -1, 2000)
    with pytest.raises(Overtaken):
        kept.append_rolled(JOB, 1000, rolled(0, 1000), -1, 2000)
    kept.append_rolled(JOB, 1000, rolled(1000, 2000, 3000), 2000, 3000)
    assert kept.read_columns(JOB, 1000, 0, 1 << 50)["at_ms"].to_pylist() == [0, 1000, 2000]


def test_a_time_without_windows_is_rolled_up_too(tmp_path: Path) -> None:
    kept = archive(tmp_path)
    kept.append_rolled(JOB, 60_000, rolled(), -1, 600_000)
    assert kept.rolled_ms(JOB, 60_000) == 600_000
    assert len(kept.read_columns(JOB, 60_000, 0, 1 << 50)) == 0


def test_a_roll_up_with_a_column_that_there_is_not_is_refused(tmp_path: Path) -> None:
    strange = rolled(0).append_column("p42_us", pa.array([1.0]))
    with pytest.raises(ValueError, match="p42_us"):
        archive(tmp_path).append_rolled(JOB, 1000, strange, -1, 1000)

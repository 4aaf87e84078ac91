"""What is archived is rolled up once, whenever and however often it is asked for."""

from pathlib import Path

import pyarrow as pa
import pytest

from collectors.formats import keys
from collectors.formats.keys import Entry
from collectors.formats.wire import Frame, encode
from dashboard.history.archive import Archive, Overtaken
from dashboard.history.place import Place
from dashboard.history.rollups import coarser, roll_up, seconds
from tests.factories import START_MS, frame

JOB = "orders.scored"
FRAMES = keys.frames(JOB)
STEPS_MS = (1_000, 60_000, 3_600_000)
LATER_MS = START_MS + 10 * 3_600_000


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(Place(str(tmp_path / "archive")))


def keep(archive: Archive, frames: list[Frame]) -> None:
    news = {FRAMES: [Entry(each.start_ms, encode(each)) for each in frames]}
    archive.append(news, archive.archived_ms([FRAMES]))


def rolled(archive: Archive, step_ms: int) -> pa.Table:
    return archive.read_columns(JOB, step_ms, 0, 1 << 60)


def some(start: int, windows: int, every: int = 97) -> list[Frame]:
    return [frame(at, (at % 700 + 1,)) for at in range(start, start + windows, every)]


def assert_rolled(archive: Archive, frames: list[Frame]) -> None:
    wanted = seconds(frames)
    for step_ms in STEPS_MS:
        wanted = coarser(wanted, step_ms)
        assert rolled(archive, step_ms).equals(wanted), f"{step_ms} ms"


def test_every_step_is_rolled_up_of_what_is_archived(archive: Archive) -> None:
    keep(archive, frames := some(0, 150_000))
    roll_up(archive, JOB, LATER_MS)
    assert_rolled(archive, frames)


def test_rolling_up_twice_doubles_nothing(archive: Archive) -> None:
    keep(archive, frames := some(0, 30_000))
    roll_up(archive, JOB, LATER_MS)
    roll_up(archive, JOB, LATER_MS)
    assert_rolled(archive, frames)


def test_a_step_that_is_not_over_waits_for_its_end(archive: Archive) -> None:
    first, rest = some(0, 30_000), some(30_000, 120_000)
    keep(archive, first)
    roll_up(archive, JOB, first[-1].start_ms)
    assert max(rolled(archive, 1_000)["at_ms"].to_pylist()) + 1_000 <= first[-1].start_ms
    assert len(rolled(archive, 3_600_000)) == 0
    keep(archive, rest)
    roll_up(archive, JOB, LATER_MS)
    assert_rolled(archive, first + rest)


def test_a_gap_of_days_in_the_frames_is_a_gap_in_the_rows(archive: Archive) -> None:
    days = 4 * 86_400 * 20
    frames = some(0, 3_000) + some(days, 3_000)
    keep(archive, frames)
    roll_up(archive, JOB, START_MS + days * 50 + 10_000_000)
    assert_rolled(archive, frames)


def test_nothing_is_rolled_up_of_a_job_without_frames(archive: Archive) -> None:
    roll_up(archive, JOB, LATER_MS)
    assert archive.rolled_ms(JOB, 1_000) == -1


def test_of_two_that_roll_up_at_once_one_is_overtaken(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(archive, frames := some(0, 30_000))
    other = Archive(archive.place)
    read = archive.read_sections

    def late(*asked: object) -> pa.Table:
        roll_up(other, JOB, LATER_MS)
        return read(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(archive, "read_sections", late)
    with pytest.raises(Overtaken):
        roll_up(archive, JOB, LATER_MS)
    assert_rolled(archive, frames)

import time

from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.keys import Entry
from dashboard.history import sections
from tests.dashboard.history import streams
from tests.techniques.detection import recorded

AT_MS = streams.START_MS
FRAME = streams.frames(300)[299]
_HEAD_BYTES = 2 + 6 + 2


def through(*payloads: bytes) -> list[bytes]:
    entries = [Entry(AT_MS + 50 * row, payload) for row, payload in enumerate(payloads)]
    return [entry.payload for entry in sections.joined(sections.cut(entries).rows)]


@given(st.lists(st.binary(max_size=200), min_size=1))
def test_any_bytes_come_back_as_they_were(payloads: list[bytes]) -> None:
    assert through(*payloads) == payloads


@given(
    at=st.integers(0, len(FRAME.payload)),
    removed=st.integers(0, 20),
    inserted=st.binary(max_size=20),
)
def test_a_frame_with_bytes_changed_anywhere_comes_back_as_it_was(
    at: int, removed: int, inserted: bytes
) -> None:
    changed = FRAME.payload[:at] + inserted + FRAME.payload[at + removed :]
    entry = Entry(FRAME.at_ms, changed)
    assert sections.joined(sections.cut([entry]).rows) == [entry]


_SECTION = st.tuples(st.integers(0, 255), st.integers(0, 2**16), st.binary(max_size=150))


@given(st.lists(_SECTION), st.binary(max_size=3))
def test_sections_in_any_order_and_of_any_length_come_back_as_they_were(
    listed: list[tuple[int, int, bytes]], tail: bytes
) -> None:
    head = FRAME.payload[: _HEAD_BYTES + 16]
    body = b"".join(
        bytes((tag,)) + (sections._varint(length) if length % 3 else b"%c" % len(value)) + value
        for tag, length, value in listed
    )
    entry = Entry(FRAME.at_ms, head + body + tail)
    cut = sections.cut([entry])
    assert cut.unreadable == 0
    assert sections.joined(cut.rows) == [entry]


def test_each_section_of_a_frame_is_a_column() -> None:
    rows = sections.cut([FRAME]).rows
    assert rows.column_names == ["at_ms", "sequence", "run_id", "s1", "s5"]
    assert rows["sequence"].to_pylist() == [299]
    assert rows["run_id"].to_pylist() == [streams.RUN_ID.bytes]
    assert rows["s5"].to_pylist() == [b"\xab\x02"]


def test_recorded_frames_are_all_cut_and_leave_no_rest() -> None:
    entries = [
        entry
        for second in recorded.seconds("calm")
        for entry in second.get(recorded.STREAMS[0], [])
    ]
    cut = sections.cut(entries)
    assert cut.unreadable == 0
    assert "rest" not in cut.rows.column_names
    assert sections.joined(cut.rows) == entries


def test_a_section_that_is_not_known_yet_is_kept_behind_the_others() -> None:
    newer = Entry(FRAME.at_ms, FRAME.payload + b"\x63\x03new")
    cut = sections.cut([newer])
    assert cut.unreadable == 0
    assert cut.rows["rest"].to_pylist() == [b"\x63\x03new"]
    assert sections.joined(cut.rows) == [newer]


def test_a_frame_of_another_version_is_kept_whole_and_counted() -> None:
    older = Entry(FRAME.at_ms, b"\xc7\x00" + FRAME.payload[2:])
    cut = sections.cut([FRAME, older])
    assert cut.unreadable == 1
    assert cut.rows["rest"].to_pylist() == [None, older.payload]
    assert sections.joined(cut.rows) == [FRAME, older]


def test_a_frame_of_another_window_than_its_entry_is_kept_whole() -> None:
    moved = Entry(FRAME.at_ms + 50, FRAME.payload)
    cut = sections.cut([moved])
    assert cut.unreadable == 1
    assert sections.joined(cut.rows) == [moved]


def test_an_integer_that_never_ends_is_given_up_at_once() -> None:
    endless = Entry(FRAME.at_ms, FRAME.payload[:8] + b"\xff" * 4_000_000)
    begun_s = time.process_time()
    assert sections.cut([endless]).unreadable == 1
    assert time.process_time() - begun_s < 1

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.formats import wire
from collectors.formats.keys import Entry, Stream, activities, frames
from collectors.formats.wire import WINDOW_MS
from dashboard.history import round as rounds
from dashboard.history.round import MARGIN_MS, SILENT_MS, Round
from dashboard.history.told import Told
from tests.dashboard.history.fakes import RETENTION_MS, Calls, FakeArchive, FakeSource, Killed
from tests.factories import START_MS, frame

JOB = "orders.scored"
OTHER = "traffic.ranking"
FAR_MS = START_MS + 10 * RETENTION_MS


class Bench:
    def __init__(self, now_ms: int = FAR_MS + MARGIN_MS) -> None:
        self.calls = Calls()
        self.source = FakeSource(self.calls, now_ms)
        self.archive = FakeArchive(self.calls)
        self.shipped: dict[Stream, list[Entry]] = {}

    def ship(self, job_id: str, first: int, count: int) -> None:
        """Sends windows `first`… of the job, and an activity with every third."""
        for at in range(first, first + count):
            entry = Entry(START_MS + WINDOW_MS * at, wire.encode(frame(at)))
            self._send(frames(job_id), entry)
            if at % 3 == 0:
                self._send(activities(job_id), Entry(entry.at_ms, b"%d" % at))

    def _send(self, stream: Stream, entry: Entry) -> None:
        self.shipped.setdefault(stream, []).append(entry)
        self.source.ship(stream, entry)

    def round(self, *job_ids: str, piece: int = 20_000) -> Told:
        return Round(self.source, self.archive, piece_entries=piece).run(job_ids or (JOB, OTHER))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_what_is_closed_moves_and_redis_is_told_how_far(bench: Bench) -> None:
    bench.ship(JOB, 0, 30)
    told = bench.round(JOB)
    assert bench.archive.held == bench.shipped
    assert (told.entries, told.well) == (40, True)
    assert bench.source.archived == {JOB: START_MS + 29 * WINDOW_MS}


def test_windows_that_are_not_closed_are_left_for_the_next_round(bench: Bench) -> None:
    bench.ship(JOB, 0, 30)
    bench.source.clock_ms = START_MS + 10 * WINDOW_MS + MARGIN_MS
    bench.round(JOB)
    assert bench.archive.held[frames(JOB)] == bench.shipped[frames(JOB)][:11]
    bench.source.clock_ms = FAR_MS
    bench.round(JOB)
    assert bench.archive.held == bench.shipped


def test_a_long_backlog_moves_in_pieces(bench: Bench) -> None:
    bench.ship(JOB, 0, 40)
    bench.ship(OTHER, 0, 35)
    bench.round(piece=10)
    assert bench.archive.held == bench.shipped
    assert bench.archive.largest_append == 10


def test_large_frames_make_small_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "PIECE_BYTES", 200)
    monkeypatch.setattr(rounds, "READ_AT_ONCE", 2)
    bench.ship(JOB, 0, 40)
    bench.round(JOB)
    assert bench.archive.held == bench.shipped
    assert bench.archive.largest_append < 15


def test_who_was_overtaken_reads_the_marks_again_and_goes_on(bench: Bench) -> None:
    bench.ship(JOB, 0, 30)

    # The fifth call is the append: the other archiver is faster, and then the job sends more.
    def faster() -> None:
        bench.round(JOB)
        bench.ship(JOB, 30, 5)

    bench.calls.before[5] = faster
    told = bench.round(JOB)
    assert bench.archive.held == bench.shipped
    assert told.well


def test_a_job_that_another_archiver_always_wins_is_left_to_it(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)

    def always_first() -> None:
        bench.archive.marks[frames(JOB)] = bench.archive.marks.get(frames(JOB), 0) + 1

    bench.calls.before = dict.fromkeys(range(1, 1_000), always_first)
    bench.ship(OTHER, 0, 5)
    told = bench.round(JOB)
    assert (told.overtaken, told.well) == (1, True)


def test_a_full_disk_stops_the_round_and_redis_is_asked_to_keep(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)
    bench.archive.full = True
    told = bench.round()
    assert told.stopped == "the archive is unavailable: no space left on device"
    assert bench.source.kept == [JOB, OTHER]
    assert bench.source.archived == {JOB: 0, OTHER: 0}
    bench.archive.full = False
    assert bench.round().well
    assert bench.archive.held == bench.shipped


def test_a_redis_that_is_away_is_tried_again_in_the_next_round(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)
    bench.source.away = True
    assert bench.round().stopped == "Redis is unavailable: connection refused"
    bench.source.away = False
    assert bench.round().well
    assert bench.archive.held == bench.shipped


def test_a_job_that_fails_is_told_and_the_others_are_archived(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)
    bench.ship(OTHER, 0, 5)
    bench.ship("third", 0, 5)
    bench.archive.stumbles_over = {JOB}
    bench.source.unreadable = {"third"}
    told = bench.round(JOB, OTHER, "third")
    assert told.failures == {
        JOB: f"ZeroDivisionError: {{'{JOB}'}}",
        "third": "curtail:job:third:frames in Redis is no stream",
    }
    assert set(bench.archive.held) == {frames(OTHER), activities(OTHER)}
    assert bench.source.archived == {OTHER: START_MS + 4 * WINDOW_MS}


def test_a_job_whose_roll_up_fails_is_told_and_the_others_are_rolled_up(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)
    bench.ship(OTHER, 0, 5)

    rolled: list[tuple[str, int]] = []

    def roll_up(job_id: str, until_ms: int) -> None:
        if job_id == JOB:
            raise ZeroDivisionError("of frames")
        rolled.append((job_id, until_ms))

    bench.source.clock_ms = START_MS + MARGIN_MS + SILENT_MS
    told = Round(bench.source, bench.archive, roll_up).run([JOB, OTHER])
    assert rolled == [(OTHER, START_MS + 5 * WINDOW_MS)]
    assert told.failures == {JOB: "ZeroDivisionError: of frames"}
    assert bench.archive.held == bench.shipped


def test_of_a_job_that_is_silent_the_last_step_is_rolled_up_too(bench: Bench) -> None:
    bench.ship(JOB, 0, 5)
    until: list[int] = []
    bench.source.clock_ms = FAR_MS + SILENT_MS + MARGIN_MS
    Round(bench.source, bench.archive, lambda _, ms: until.append(ms)).run([JOB])
    assert until == [FAR_MS]


def test_windows_that_redis_trimmed_before_the_archiver_came_are_counted(bench: Bench) -> None:
    bench.ship(JOB, 0, 10)
    bench.round(JOB)
    # Five times the retention of Redis: four are kept for the archiver.
    bench.ship(JOB, 10, 5 * RETENTION_MS // WINDOW_MS)
    told = bench.round(JOB)
    first = bench.source.streams[frames(JOB)][0]
    assert told.lost_windows == {JOB: (first.at_ms - START_MS) // WINDOW_MS - 10}
    assert "windows of 1 jobs were lost" in told.line()


def test_a_job_that_did_not_run_lost_nothing(bench: Bench) -> None:
    bench.ship(JOB, 0, 10)
    bench.round(JOB)
    bench.ship(JOB, 40, 3)
    assert bench.round(JOB).lost_windows == {}


def test_a_run_that_began_after_the_hole_lost_nothing_of_its_own(bench: Bench) -> None:
    bench.ship(JOB, 0, 10)
    bench.round(JOB)
    at_ms = START_MS + 20 * RETENTION_MS
    bench.source.ship(frames(JOB), Entry(at_ms, wire.encode(frame(at_ms // 50, sequence=0))))
    bench.source.clock_ms = at_ms + MARGIN_MS
    told = bench.round(JOB)
    assert (told.entries, told.lost_windows) == (1, {})


def kill() -> None:
    raise Killed


# What happens to the archivers of a job, in turn: windows arrive, a whole round, a round that is
# killed at one of its calls (before or after it took effect), two rounds of which one is inside the
# other.
ARRIVE = st.tuples(st.just("arrive"), st.integers(1, 30), st.booleans())
ROUND = st.tuples(st.just("round"), st.integers(1, 25), st.booleans())
KILLED = st.tuples(st.just("killed"), st.integers(1, 25), st.booleans())
TWO = st.tuples(st.just("two"), st.integers(1, 25), st.booleans())


@settings(max_examples=150)
@given(st.lists(ARRIVE | ROUND | KILLED | TWO, max_size=20), st.integers(1, 12))
def test_whatever_is_killed_and_overtaken_nothing_is_lost_or_doubled(
    steps: list[tuple[str, int, bool]], piece: int
) -> None:
    bench = Bench(START_MS + MARGIN_MS)
    # An archiver was there before, so Redis keeps what it may.
    bench.source.keep((JOB, OTHER))
    sent = 0
    for what, number, flag in steps:
        if what == "arrive":
            bench.ship(JOB, sent, number)
            if flag:
                bench.ship(OTHER, sent, number)
            sent += number
            bench.source.clock_ms = START_MS + WINDOW_MS * sent + MARGIN_MS
            continue
        bench.calls.number = 0
        plan = bench.calls.after if flag else bench.calls.before
        doing: dict[str, Callable[[], object]] = {
            "round": lambda: None,
            "killed": kill,
            "two": lambda: bench.round(piece=piece),
        }
        plan[number] = doing[what]  # type: ignore[assignment]
        try:
            bench.round(piece=piece)
        except Killed:
            pass
        finally:
            bench.calls.before.clear()
            bench.calls.after.clear()
        assert_nothing_is_missing_before(bench.source.archived, bench)
    bench.round(piece=piece)
    assert_nothing_is_missing_before(dict.fromkeys((JOB, OTHER), bench.source.clock_ms), bench)
    for entries in bench.archive.held.values():
        assert entries == sorted(set(entries))


def assert_nothing_is_missing_before(archived_ms: Mapping[str, int], bench: Bench) -> None:
    for stream, entries in bench.shipped.items():
        told = {each for each in entries if each.at_ms <= archived_ms.get(stream.job_id, -1)}
        assert told <= {*bench.archive.held.get(stream, []), *bench.source.overrun}

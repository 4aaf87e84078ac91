"""One round of the archiver for some jobs: from their streams in Redis to the archive.

    1. read the marks: how far the archive has each stream
    2. read the entries after the marks that are closed, a piece at a time
    3. append the piece: one atomic commit, refused if another archiver was faster
    4. tell Redis how far its streams are archived, so that it may trim them
    5. when all of a job is there: roll up what is complete

A kill between two steps loses and doubles nothing: the marks are committed with the entries, so the
next round begins where the last commit ended, and step 4 only ever tells of what is committed. Two
rounds at once for the same job cost time only, as one of them is refused and reads the marks anew.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from collectors.formats.keys import Entry, Kind, Stream, frames
from collectors.formats.wire import WINDOW_MS
from dashboard.history.archive import Appended
from dashboard.history.errors import ArchiveUnavailable, Overtaken
from dashboard.history.holes import windows_lost
from dashboard.history.told import Told

log = logging.getLogger(__name__)

# Younger windows are left for the next round: a driver's clock may be behind that of Redis.
MARGIN_MS = 5_000
# A piece is what a round holds in memory: about five minutes of three jobs, or fewer large frames.
PIECE_ENTRIES = 20_000
PIECE_BYTES = 64 * 1024 * 1024
READ_AT_ONCE = 2_000
# A job that was silent for so long has no window of an earlier time on its way.
SILENT_MS = 600_000
# After so many refusals the other archiver evidently does the work.
TRIES = 5


class SourceUnavailable(Exception):
    """Redis does not answer now; it may again."""


class StreamUnreadable(Exception):
    """What is under the stream's key in Redis is no stream."""


class Source(Protocol):
    """The streams in Redis. Every method may raise `SourceUnavailable`."""

    def now_ms(self) -> int:
        """The clock of the source: archivers on several hosts agree on what is closed."""

    def job_ids(self) -> list[str]: ...

    def read(self, stream: Stream, after_ms: int, until_ms: int, most: int) -> list[Entry]:
        """The oldest `most` entries with after_ms < at_ms ≤ until_ms. May raise
        `StreamUnreadable`."""

    def oldest_ms(self, stream: Stream) -> int | None: ...

    def tell_archived(self, archived_ms: Mapping[str, int]) -> None:
        """Records per job up to when both of its streams are archived."""

    def keep(self, job_ids: Iterable[str]) -> None:
        """Prolongs the jobs' marks as they are, so that Redis keeps what is not archived."""


class Target(Protocol):
    """What a round needs of `dashboard.history.archive.Archive`."""

    def archived_ms(self, streams: Iterable[Stream]) -> dict[Stream, int]: ...

    def append(
        self, news: Mapping[Stream, Sequence[Entry]], seen: Mapping[Stream, int]
    ) -> Appended: ...


RollUp = Callable[[str, int], None]
"""Rolls up a job's frames before a time up to which the archive has all that will ever be there."""


class Round:
    def __init__(
        self,
        source: Source,
        target: Target,
        roll_up: RollUp = lambda _job_id, _until_ms: None,
        piece_entries: int = PIECE_ENTRIES,
    ) -> None:
        self._source = source
        self._target = target
        self._roll_up = roll_up
        self._piece_entries = piece_entries
        self._marks: dict[Stream, int] = {}
        self._closed_ms = 0
        self._told = Told()

    def run(self, job_ids: Sequence[str]) -> Told:
        """Moves what is closed of these jobs. Never raises for a job, Redis or the archive: what
        went wrong is in the answer, and the next round tries again."""
        self._told = Told(jobs=len(job_ids))
        try:
            try:
                self._closed_ms = self._source.now_ms() - MARGIN_MS
                self._read_marks(job_ids)
                self._move(deque(job_ids))
            except ArchiveUnavailable as error:
                self._told += Told(stopped=f"the archive is unavailable: {error}")
                self._source.keep(job_ids)
        except SourceUnavailable as error:
            self._told += Told(stopped=f"Redis is unavailable: {error}")
        return self._told

    def _move(self, waiting: deque[str]) -> None:
        refused: Counter[str] = Counter()
        while waiting:
            news, whole, rest = self._gather(waiting)
            waiting.extendleft(reversed(rest))
            try:
                self._append(news)
            except Overtaken:
                self._again([*whole, *rest], waiting, refused)
                continue
            self._finish(job_id for job_id in whole if job_id not in self._told.failures)

    def _gather(
        self, waiting: deque[str]
    ) -> tuple[dict[Stream, list[Entry]], list[str], list[str]]:
        """Takes jobs from `waiting` until a piece is full; returns the piece, the jobs that it
        completes and the jobs of which more is to come."""
        news: dict[Stream, list[Entry]] = {}
        whole: list[str] = []
        piece = _Piece(self._piece_entries)
        while waiting and not piece.is_full:
            job_id = waiting.popleft()
            try:
                found = {stream: self._read(stream, piece) for stream in _streams(job_id)}
            except StreamUnreadable as error:
                self._told += Told(failures={job_id: str(error)})
                continue
            news |= {stream: entries for stream, entries in found.items() if entries}
            # A full piece may have ended on a stream's last entry: the next look tells.
            if piece.is_full:
                return news, whole, [job_id]
            whole.append(job_id)
        return news, whole, []

    def _read(self, stream: Stream, piece: "_Piece") -> list[Entry]:
        found: list[Entry] = []
        after_ms = self._marks.get(stream, -1)
        while not piece.is_full:
            most = min(READ_AT_ONCE, piece.entries_left)
            read = self._source.read(stream, after_ms, self._closed_ms, most)
            piece.add(read)
            found += read
            if len(read) < most:
                break
            after_ms = read[-1].at_ms
        if found and stream.kind == Kind.FRAMES:
            self._look_for_holes(stream, found[0])
        return found

    def _look_for_holes(self, stream: Stream, first: Entry) -> None:
        mark_ms = self._marks.get(stream)
        if mark_ms is None or first.at_ms - mark_ms <= WINDOW_MS:
            return
        lost = windows_lost(mark_ms, first, self._source.oldest_ms(stream))
        if lost:
            self._told += Told(lost_windows={stream.job_id: lost})

    def _append(self, news: Mapping[Stream, Sequence[Entry]]) -> None:
        if not news:
            return
        seen = {stream: self._marks[stream] for stream in news if stream in self._marks}
        try:
            appended = self._target.append(news, seen)
        except (Overtaken, ArchiveUnavailable):
            raise
        except Exception as error:
            self._append_one_by_one(news, error)
            return
        self._marks |= {stream: entries[-1].at_ms for stream, entries in news.items()}
        self._told += Told(
            entries=appended.entries, unreadable=appended.unreadable, bytes=appended.bytes
        )

    def _append_one_by_one(self, news: Mapping[Stream, Sequence[Entry]], error: Exception) -> None:
        """Finds the job whose entries cannot be appended; the others' are."""
        jobs = sorted({stream.job_id for stream in news})
        if len(jobs) == 1:
            log.error("%s cannot be archived", jobs[0], exc_info=error)
            self._told += Told(failures={jobs[0]: f"{type(error).__name__}: {error}"})
            return
        for job_id in jobs:
            self._append({s: entries for s, entries in news.items() if s.job_id == job_id})

    def _again(self, job_ids: list[str], waiting: deque[str], refused: Counter[str]) -> None:
        """Puts the jobs of a refused piece back, with new marks."""
        refused.update(job_ids)
        self._read_marks(job_ids)
        # The job that more is to come of is waiting already.
        back = [each for each in job_ids if refused[each] < TRIES and each not in waiting]
        waiting.extendleft(reversed(back))
        left = [each for each in job_ids if refused[each] >= TRIES]
        for each in left:
            if each in waiting:
                waiting.remove(each)
        self._told += Told(overtaken=len(left))

    def _finish(self, job_ids: Iterable[str]) -> None:
        """Tells Redis of the jobs' newest frames and rolls them up. Not of `closed_ms`: the clock
        of a driver may be further behind than the margin, and its entries still to come."""
        newest_ms = {
            job_id: self._marks[frames(job_id)]
            for job_id in job_ids
            if frames(job_id) in self._marks
        }
        if newest_ms:
            self._source.tell_archived(newest_ms)
        for job_id, at_ms in newest_ms.items():
            try:
                self._roll_up(job_id, max(at_ms + WINDOW_MS, self._closed_ms - SILENT_MS))
            except Overtaken:
                continue  # the other archiver rolls it up
            except ArchiveUnavailable:
                raise
            except Exception as error:
                log.exception("%s cannot be rolled up", job_id)
                self._told += Told(failures={job_id: f"{type(error).__name__}: {error}"})

    def _read_marks(self, job_ids: Iterable[str]) -> None:
        streams = [stream for job_id in job_ids for stream in _streams(job_id)]
        self._marks |= self._target.archived_ms(streams)


class _Piece:
    """How much a round has read since its last commit."""

    def __init__(self, most_entries: int) -> None:
        self.entries_left = most_entries
        self._bytes_left = PIECE_BYTES

    @property
    def is_full(self) -> bool:
        return self.entries_left <= 0 or self._bytes_left <= 0

    def add(self, read: Sequence[Entry]) -> None:
        self.entries_left -= len(read)
        self._bytes_left -= sum(len(entry.payload) for entry in read)


def _streams(job_id: str) -> list[Stream]:
    return [Stream(job_id, kind) for kind in Kind]

"""Redis and the archive in memory, which a test can kill, overtake or fill up at any call."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from collectors.formats.keys import Entry, Stream
from collectors.process.shipper import trim_ms
from dashboard.history.archive import Appended
from dashboard.history.errors import ArchiveUnavailable, Overtaken
from dashboard.history.round import SourceUnavailable, StreamUnreadable

# Short, so that a few entries are trimmed. Redis itself keeps whole nodes and so a little more.
RETENTION_MS = 2_000


class Killed(BaseException):
    """The archiver's process ends here."""


class Calls:
    """Runs what a test planned before or after the numbered call of a round."""

    def __init__(self) -> None:
        self.number = 0
        self.before: dict[int, Callable[[], None]] = {}
        self.after: dict[int, Callable[[], None]] = {}

    def made(self, plan: dict[int, Callable[[], None]]) -> None:
        if planned := plan.pop(self.number, None):
            planned()

    def __enter__(self) -> None:
        self.number += 1
        self.made(self.before)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.made(self.after)


class FakeSource:
    def __init__(self, calls: Calls, now_ms: int) -> None:
        self.calls = calls
        self.clock_ms = now_ms
        self.streams: dict[Stream, list[Entry]] = {}
        self.archived: dict[str, int] = {}
        self.kept: list[str] = []
        self.unreadable: set[str] = set()
        self.away = False
        # Trimmed before they were archived: by the bound of Redis, or as no archiver was there.
        self.overrun: set[Entry] = set()

    def ship(self, stream: Stream, entry: Entry) -> None:
        """Adds and trims as the collector does."""
        held = self.streams.setdefault(stream, [])
        oldest_ms = trim_ms(entry.at_ms, RETENTION_MS, self.archived.get(stream.job_id))
        held.append(entry)
        self.streams[stream] = [each for each in held if each.at_ms >= oldest_ms]
        archived_ms = self.archived.get(stream.job_id, -1)
        self.overrun |= {each for each in held if archived_ms < each.at_ms < oldest_ms}

    def now_ms(self) -> int:
        with self.calls:
            self._answer()
            return self.clock_ms

    def job_ids(self) -> list[str]:
        self._answer()
        return sorted({stream.job_id for stream in self.streams})

    def read(self, stream: Stream, after_ms: int, until_ms: int, most: int) -> list[Entry]:
        with self.calls:
            self._answer()
            if stream.job_id in self.unreadable:
                raise StreamUnreadable(f"{stream.key} in Redis is no stream")
            held = self.streams.get(stream, [])
            return [each for each in held if after_ms < each.at_ms <= until_ms][:most]

    def oldest_ms(self, stream: Stream) -> int | None:
        held = self.streams.get(stream)
        return held[0].at_ms if held else None

    def tell_archived(self, archived_ms: Mapping[str, int]) -> None:
        with self.calls:
            self._answer()
            self.archived |= archived_ms

    def keep(self, job_ids: Iterable[str]) -> None:
        self._answer()
        for job_id in job_ids:
            self.kept.append(job_id)
            self.archived.setdefault(job_id, 0)

    def _answer(self) -> None:
        if self.away:
            raise SourceUnavailable("connection refused")


class FakeArchive:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.held: dict[Stream, list[Entry]] = {}
        self.marks: dict[Stream, int] = {}
        self.full = False
        self.stumbles_over: set[str] = set()
        self.largest_append = 0

    def archived_ms(self, streams: Iterable[Stream]) -> dict[Stream, int]:
        with self.calls:
            return {each: self.marks[each] for each in streams if each in self.marks}

    def append(
        self, news: Mapping[Stream, Sequence[Entry]], seen: Mapping[Stream, int]
    ) -> Appended:
        with self.calls:
            if self.full:
                raise ArchiveUnavailable("no space left on device")
            if stumbling := self.stumbles_over & {stream.job_id for stream in news}:
                raise ZeroDivisionError(stumbling)
            # Each table commits on its own, as in the archive: the first may be written although
            # the second is refused.
            for kind in sorted({stream.kind for stream in news}, reverse=True):
                self._commit({s: e for s, e in news.items() if s.kind == kind}, seen)
            entries = sum(map(len, news.values()))
            self.largest_append = max(self.largest_append, entries)
            return Appended(entries=entries)

    def _commit(self, news: Mapping[Stream, Sequence[Entry]], seen: Mapping[Stream, int]) -> None:
        for stream in news:
            if self.marks.get(stream) != seen.get(stream):
                raise Overtaken(stream.key)
        for stream, entries in news.items():
            self.held.setdefault(stream, []).extend(entries)
            self.marks[stream] = entries[-1].at_ms

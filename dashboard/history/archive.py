"""The archive: what Redis held, kept for weeks, each entry exactly once.

    <place>/frames       day, job │ at_ms, a column per section of a frame (`sections`)
    <place>/activities   day, job │ at_ms, payload
    <place>/rollups      step_ms, day, job │ `rolled_schema`
    <place>/damaged      one record for each file that could not be read (`damage`)

The first three are Delta tables (docs/adr/0015-the-archive-is-a-delta-table.md). How far each
stream is archived is committed with its files (`marks`): a writer that is killed at any point has
either archived the entries and moved the mark, or done neither.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from collectors.formats import activity
from collectors.formats.keys import Entry, Kind, Stream
from dashboard.history import data_files, marks, sections
from dashboard.history.damage import Damaged
from dashboard.history.data_files import DataFile
from dashboard.history.delta import Log, reached
from dashboard.history.errors import ArchiveUnavailable as ArchiveUnavailable
from dashboard.history.errors import Overtaken as Overtaken
from dashboard.history.place import Place as Place
from dashboard.history.reading import Range, Reading
from dashboard.history.rolled_schema import ROLLED, fitted
from dashboard.history.tables import LAYOUTS, ROLLUPS, TABLE_OF

_ALWAYS = (0, 1 << 62)
_NO_FRAMES = LAYOUTS[TABLE_OF[Kind.FRAMES]].columns.empty_table()
_YEAR_10000_MS = 253_402_300_800_000


@dataclass(frozen=True)
class Appended:
    """`unreadable` counts entries that this version cannot read. They are kept all the same,
    except those whose time is after the year 9999."""

    entries: int = 0
    unreadable: int = 0
    bytes: int = 0
    files: int = 0


class Archive:
    """Makes nothing until the first append, and may be shared by threads."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._logs = {name: Log(place, layout) for name, layout in LAYOUTS.items()}
        self._filesystem = place.filesystem()
        self._reading = Reading(self._filesystem)

    def archived_ms(self, streams: Iterable[Stream]) -> dict[Stream, int]:
        """The newest archived entry of each stream; a stream of which there is none is absent."""
        found: dict[Stream, int] = {}
        asked = list(streams)
        with reached(self.place):
            for kind, log in self._streams():
                ours = {marks.of_job(each.job_id): each for each in asked if each.kind == kind}
                for name, mark in log.marks(list(ours)).items():
                    if mark != marks.NONE_YET:
                        found[ours[name]] = mark
        return found

    def append(
        self, news: Mapping[Stream, Sequence[Entry]], seen: Mapping[Stream, int]
    ) -> Appended:
        """Appends what is newer than `seen`, which is what `archived_ms` said when it was read.

        All streams of a kind are one atomic commit. Raises `Overtaken` if a mark is not as seen."""
        fresh = {
            stream: _newer(entries, seen.get(stream, marks.NONE_YET))
            for stream, entries in news.items()
        }
        with reached(self.place):
            # 1. Nothing is written for streams that another archiver has appended already.
            begun = []
            for kind, log in self._streams():
                ours = {each: new for each, new in fresh.items() if each.kind == kind and new}
                if not ours:
                    continue
                before = {
                    marks.of_job(each.job_id): seen.get(each, marks.NONE_YET) for each in ours
                }
                log.check(table := log.made(), before)
                begun.append((kind, log, table, ours, before))
            # 2. Files, of which nobody knows until the commit.
            written = [self._write(kind, ours) for kind, _, _, ours, _ in begun]
            # 3. The commits.
            for (_, log, table, ours, before), (files, _) in zip(begun, written, strict=True):
                moved = {marks.of_job(each.job_id): new[-1].at_ms for each, new in ours.items()}
                log.commit(table, [file.added() for file in files], moved, before)
        return Appended(
            entries=sum(len(new) for new in fresh.values()),
            unreadable=sum(unreadable for _, unreadable in written)
            + sum(_undated(entries) for entries in news.values()),
            bytes=sum(file.size_bytes for files, _ in written for file in files),
            files=sum(len(files) for files, _ in written),
        )

    def entries(self, stream: Stream, start_ms: int, end_ms: int) -> list[Entry]:
        """The entries of [start, end), oldest first, each payload byte for byte as in Redis."""
        wanted = Range({"job": stream.job_id}, start_ms, end_ms)
        with reached(self.place):
            rows = self._reading.rows(self._logs[TABLE_OF[stream.kind]], wanted)
        if rows is None:
            return []
        return sections.joined(rows) if stream.kind == Kind.FRAMES else _payloads(rows)

    def read_sections(
        self, job_id: str, start_ms: int, end_ms: int, columns: Sequence[str]
    ) -> pa.Table:
        """Frames of [start, end), by time, as those of these columns that they have."""
        log = self._logs[TABLE_OF[Kind.FRAMES]]
        with reached(self.place):
            rows = self._reading.rows(log, Range({"job": job_id}, start_ms, end_ms, columns))
        return _NO_FRAMES if rows is None else rows

    def span_ms(self, stream: Stream) -> tuple[int, int] | None:
        """The times of the oldest and the newest entry that are kept."""
        with reached(self.place):
            files = self._logs[TABLE_OF[stream.kind]].files({"job": stream.job_id}, *_ALWAYS)
        if not files:
            return None
        return min(file.oldest_ms for file in files), max(file.newest_ms for file in files)

    def jobs(self, start_ms: int, end_ms: int) -> list[str]:
        with reached(self.place):
            files = self._logs[TABLE_OF[Kind.FRAMES]].files({}, start_ms, end_ms)
        return sorted({file.partition["job"] for file in files})

    def read_columns(
        self,
        job_id: str,
        step_ms: int,
        start_ms: int,
        end_ms: int,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Roll-ups of [start, end), by time, with the columns of `ROLLED` or those asked for."""
        partition = {"step_ms": str(step_ms), "job": job_id}
        names = None if columns is None else ["at_ms", *columns]
        with reached(self.place):
            wanted = Range(partition, start_ms, end_ms, names)
            rows = self._reading.rows(self._logs[ROLLUPS], wanted)
        found = fitted(ROLLED.empty_table() if rows is None else rows)
        return found if columns is None else found.select(columns)

    def append_rolled(
        self, job_id: str, step_ms: int, rolled: pa.Table, seen_ms: int, until_ms: int
    ) -> None:
        """Appends the steps of [seen, until) and says that all before `until_ms` are rolled up.

        `seen_ms` is what `rolled_ms` said. Raises `Overtaken` if that is no longer so."""
        if until_ms <= seen_ms:
            return
        times = rolled["at_ms"]
        inside = pc.and_(pc.greater_equal(times, seen_ms), pc.less(times, until_ms))
        rows = fitted(rolled.filter(inside)).sort_by("at_ms")
        name = marks.of_rollup(job_id, step_ms)
        log = self._logs[ROLLUPS]
        with reached(self.place):
            log.check(table := log.made(), {name: seen_ms})
            files = self._write_days(ROLLUPS, {"step_ms": str(step_ms)}, job_id, rows)
            added = [file.added() for file in files]
            log.commit(table, added, {name: until_ms}, {name: seen_ms})

    def rolled_ms(self, job_id: str, step_ms: int) -> int:
        """The end of what is rolled up; -1 if nothing is."""
        name = marks.of_rollup(job_id, step_ms)
        with reached(self.place):
            return self._logs[ROLLUPS].marks([name])[name]

    def damaged(self) -> list[Damaged]:
        """The files that could not be read and are left out since then."""
        with reached(self.place):
            return self._reading.aside.records()

    def _streams(self) -> list[tuple[Kind, Log]]:
        return [(kind, self._logs[name]) for kind, name in TABLE_OF.items()]

    def _write(
        self, kind: Kind, news: Mapping[Stream, Sequence[Entry]]
    ) -> tuple[list[DataFile], int]:
        files: list[DataFile] = []
        unreadable = 0
        for stream, entries in news.items():
            cut = sections.cut(entries) if kind == Kind.FRAMES else _uncut(entries)
            unreadable += cut.unreadable
            files += self._write_days(TABLE_OF[kind], {}, stream.job_id, cut.rows)
        return files, unreadable

    def _write_days(
        self, table: str, partition: Mapping[str, str], job_id: str, rows: pa.Table
    ) -> list[DataFile]:
        return [
            data_files.write(
                self._filesystem,
                LAYOUTS[table],
                {**partition, "day": day, "job": job_id},
                _filled(of_day),
                [of_day],
            )
            for day, of_day in data_files.by_day(rows)
        ]


def _filled(rows: pa.Table) -> list[str]:
    """The columns with a value in at least one row. Readers take absent ones for null."""
    return [name for name in rows.column_names if rows[name].null_count < len(rows)]


def _newer(entries: Sequence[Entry], seen_ms: int) -> list[Entry]:
    """By time, each time once (the first wins, as in Redis), without what is archived already."""
    newer: dict[int, Entry] = {}
    for entry in entries:
        if seen_ms < entry.at_ms < _YEAR_10000_MS:
            newer.setdefault(entry.at_ms, entry)
    return [newer[at_ms] for at_ms in sorted(newer)]


def _undated(entries: Sequence[Entry]) -> int:
    """How many entries have a time of which there is no day. Redis takes them, we cannot."""
    return sum(entry.at_ms >= _YEAR_10000_MS for entry in entries)


_ACTIVITIES_HEAD = bytes((activity.MAGIC, activity.VERSION))


def _uncut(entries: Sequence[Entry]) -> sections.Cut:
    columns = {
        "at_ms": pa.array([entry.at_ms for entry in entries], pa.int64()),
        "payload": pa.array([entry.payload for entry in entries], pa.binary()),
    }
    unreadable = sum(not entry.payload.startswith(_ACTIVITIES_HEAD) for entry in entries)
    return sections.Cut(pa.table(columns), unreadable)


def _payloads(rows: pa.Table) -> list[Entry]:
    pairs = zip(rows["at_ms"].to_pylist(), rows["payload"].to_pylist(), strict=True)
    return [Entry(at_ms, payload) for at_ms, payload in pairs]

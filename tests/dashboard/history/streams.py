"""Streams as Redis would hold them, and what was archived of them, for the tests of the archive."""

from pathlib import Path
from uuid import UUID

from collectors.formats import wire
from collectors.formats.buckets import Histogram
from collectors.formats.keys import Entry, Stream
from dashboard.history.archive import Archive, Place

# A multiple of a window's 50 ms, shortly before midnight (UTC) of 2026-11-19.
START_MS = 1_795_046_390_000
MIDNIGHT_MS = 1_795_046_400_000
RUN_ID = UUID(int=7)
FOREVER_MS = 1 << 50


def frames(count: int, start_ms: int = START_MS) -> list[Entry]:
    """One after the other from `start_ms` on; no two are the same."""
    return [
        Entry(
            at_ms,
            wire.encode(
                wire.Frame(
                    window=at_ms // wire.WINDOW_MS,
                    sequence=number,
                    run_id=RUN_ID,
                    latency=Histogram.of([number * 1000, number * 7 + 1]),
                    backlog_rows=number,
                    stamped=number % 2 == 0,
                )
            ),
        )
        for number, at_ms in enumerate(range(start_ms, start_ms + count * 50, 50))
    ]


def payloads(count: int, start_ms: int = START_MS) -> list[Entry]:
    """Entries that are no frames: of activities only the first two bytes are looked at."""
    return [Entry(start_ms + number * 50, b"\xca\x01%d" % number) for number in range(count)]


def archive(folder: Path) -> Archive:
    return Archive(Place(str(folder / "archive")))


def append(to: Archive, stream: Stream, entries: list[Entry]) -> None:
    to.append({stream: entries}, to.archived_ms([stream]))


def everything(of: Archive, stream: Stream) -> list[Entry]:
    return of.entries(stream, 0, FOREVER_MS)


def data_files(of: Archive, table: str) -> list[Path]:
    return sorted((Path(of.place.root) / table).glob("day=*/**/*.parquet"))

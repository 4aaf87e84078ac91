"""A job's entries of any time: those that Redis has, joined with those that the archive has.

Redis is asked first and the archive second. Entries leave Redis only after they were archived, so
whatever the first answer no longer has is in the second one; what is in both is taken once. There
is no seam, wherever the border between the two is at the moment.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from heapq import merge
from operator import attrgetter
from typing import TypeVar

from django.conf import settings

from collectors.formats.keys import Entry, Stream
from dashboard.history.archive import Archive
from dashboard.history.errors import ArchiveUnavailable
from dashboard.history.place import Place
from dashboard.store import the_store

T = TypeVar("T")

# Nothing younger is ever trimmed: Redis keeps an hour by the collectors' clocks, which may differ.
SURELY_IN_REDIS_MS = 55 * 60 * 1000
# A storage that hangs holds up one answer for this long, and no live page at all.
PATIENCE_S = 10

NO_ARCHIVE = "no archive is configured (CURTAIL_ARCHIVE=off), and Redis keeps an hour"

# Not the pool of asyncio.to_thread: reads from a storage that hangs would take all its threads.
_THREADS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="archive")


@dataclass(frozen=True)
class Kept:
    """Entries of a range, oldest first; `incomplete` says why there may be more, if so."""

    entries: Sequence[Entry]
    incomplete: str | None = None


@cache
def the_archive() -> Archive | None:
    """The archive of this process, by the setting ARCHIVE; None if there is none."""
    if not settings.ARCHIVE:
        return None
    return Archive(Place(settings.ARCHIVE, settings.ARCHIVE_OPTIONS))


async def asked(read: Callable[[Archive], T], otherwise: T) -> tuple[T, str | None]:
    """Asks the archive in a thread; if that fails, returns `otherwise` and why."""
    if (archive := the_archive()) is None:
        return otherwise, NO_ARCHIVE
    reading = asyncio.get_running_loop().run_in_executor(_THREADS, read, archive)
    try:
        return await asyncio.wait_for(reading, PATIENCE_S), None
    except TimeoutError:
        return otherwise, f"the archive has not answered within {PATIENCE_S} s"
    except ArchiveUnavailable as error:
        return otherwise, f"the archive cannot be read: {error}"


def may_be_trimmed(start_ms: int) -> bool:
    """Whether a range that begins then may no longer be in Redis as a whole."""
    return start_ms < time.time() * 1000 - SURELY_IN_REDIS_MS


async def entries(stream: Stream, start_ms: int, end_ms: int) -> Kept:
    """The entries with start_ms ≤ at_ms < end_ms."""
    held = await the_store().entries(stream, start_ms, end_ms)
    if not may_be_trimmed(start_ms):
        return Kept(held)
    nothing: list[Entry] = []
    archived, why = await asked(lambda archive: archive.entries(stream, start_ms, end_ms), nothing)
    return Kept(joined(archived, held), why)


async def pieces(stream: Stream, start_ms: int, end_ms: int, piece_ms: int) -> AsyncIterator[Kept]:
    """The same in pieces of time; those that Redis has are in memory one at a time."""
    if may_be_trimmed(start_ms):
        # Once for all: a file of the archive is read by quarters of an hour.
        whole = await entries(stream, start_ms, end_ms)
        for at_ms in range(start_ms, end_ms, piece_ms):
            inside = [each for each in whole.entries if at_ms <= each.at_ms < at_ms + piece_ms]
            yield Kept(inside, whole.incomplete)
        return
    for at_ms in range(start_ms, end_ms, piece_ms):
        until_ms = min(end_ms, at_ms + piece_ms)
        yield Kept(await the_store().entries(stream, at_ms, until_ms))


def joined(archived: Sequence[Entry], held: Sequence[Entry]) -> list[Entry]:
    """Both by time, each time once."""
    found: list[Entry] = []
    for entry in merge(archived, held, key=attrgetter("at_ms")):
        if not found or entry.at_ms > found[-1].at_ms:
            found.append(entry)
    return found

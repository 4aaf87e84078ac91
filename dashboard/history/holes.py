"""How many windows of a job Redis trimmed before they were archived."""

from collectors.formats import wire
from collectors.formats.codec import Garbled
from collectors.formats.keys import Entry
from collectors.formats.wire import WINDOW_MS

_HEADER = wire.Only(frozenset(), frozenset())


def windows_lost(mark_ms: int, first: Entry, oldest_ms: int | None) -> int:
    """`first` is the first frame after the mark, `oldest_ms` the oldest that Redis still has.

    If Redis still has a frame of the mark's time or earlier, it trimmed nothing after the mark:
    then the job did not run in between, or its collector counted the frames as dropped. Otherwise
    a frame's number says how many windows of its run came before it. Of runs that Redis has
    nothing of, nobody knows how long they were: the answer is the least that is lost."""
    if oldest_ms is None or oldest_ms <= mark_ms:
        return 0
    between = max(0, (first.at_ms - mark_ms) // WINDOW_MS - 1)
    try:
        return min(between, wire.decode(first.payload, _HEADER).sequence)
    except Garbled:
        return between

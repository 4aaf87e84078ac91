"""What the collector did and what it takes, as a frame and a pulse carry it.

varint    frames shipped             of this job, since the collector began: Redis has them
varint    activities shipped         likewise
varint    entries waiting            to be sent, of all jobs of the application
varint    CPU µs                     used by the collector's process so far
varint    resident bytes + 1         of that process; 0 = not known
"""

from dataclasses import dataclass

from collectors.formats.codec import Reader, Writer


@dataclass(frozen=True)
class CollectorLoad:
    """One collector serves all queries of an application: CPU, memory and buffer are shared."""

    shipped_frames: int = 0
    shipped_activities: int = 0
    waiting_entries: int = 0
    cpu_us: int = 0
    resident_bytes: int | None = None


def write(out: Writer, load: CollectorLoad) -> None:
    out.varint(load.shipped_frames)
    out.varint(load.shipped_activities)
    out.varint(load.waiting_entries)
    out.varint(load.cpu_us)
    out.optional(load.resident_bytes)


def read(data: Reader) -> CollectorLoad:
    return CollectorLoad(
        data.varint(), data.varint(), data.varint(), data.varint(), data.optional()
    )

"""Something with a beginning and an end: a flush, a compaction, a GC pause, a micro-batch.

The format on a job's stream of activities, one entry per window in which some ended:

    byte      0xCA
    byte      version = 1
    varint    number of activities, then each
      byte      kind                     `Kind`
      varint    start epoch µs
      varint    duration µs
      text      executor id              empty for the driver's own
      varint    operator + 1             0 = of no operator
      varint    partition + 1            0 = of no partition
      text      name                     "G1 Young Generation", "addBatch", a store's name
      text      reason                   what set it off, where somebody says so
      varint    input bytes + 1          0 = unknown
      varint    output bytes + 1
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from collectors.formats.codec import Garbled, Reader, Writer

MAGIC = 0xCA
VERSION = 1


class Kind(IntEnum):
    FLUSH = 1
    COMPACTION = 2
    GC = 3
    COMMIT = 4
    SNAPSHOT = 5
    BATCH = 6
    PHASE = 7
    TASK = 8


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True)
class Activity:
    """One that ended."""

    kind: Kind
    start_us: int
    end_us: int
    executor_id: str = ""
    operator: int | None = None
    partition: int | None = None
    name: str = ""
    reason: str = ""
    input_bytes: int | None = None
    output_bytes: int | None = None


def encode(activities: Sequence[Activity]) -> bytes:
    out = Writer()
    out.byte(MAGIC)
    out.byte(VERSION)
    out.varint(len(activities))
    for each in activities:
        out.byte(each.kind)
        out.varint(each.start_us)
        out.varint(max(0, each.end_us - each.start_us))
        out.text(each.executor_id)
        out.optional(each.operator)
        out.optional(each.partition)
        out.text(each.name)
        out.text(each.reason)
        out.optional(each.input_bytes)
        out.optional(each.output_bytes)
    return out.bytes()


def decode(data: bytes) -> tuple[Activity, ...]:
    reader = Reader(data)
    if reader.byte() != MAGIC:
        raise Garbled("no activities")
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"activities of version {version}, this reads {VERSION}")
    return tuple(_read(reader) for _ in range(reader.varint()))


def _read(reader: Reader) -> Activity:
    if (kind := _KINDS.get(number := reader.byte())) is None:
        raise Garbled(f"an activity of unknown kind: {number}")
    start_us = reader.varint()
    text, optional = reader.text, reader.optional
    # In the order of the fields, which is that of the format.
    return Activity(
        kind,
        start_us,
        start_us + reader.varint(),
        text(),
        optional(),
        optional(),
        text(),
        text(),
        optional(),
        optional(),
    )

"""Frames cut into columns, and put together again byte for byte.

A frame is cut at its tags and lengths and not decoded, so like lies beside like in a file and a
reader takes only the sections that it wants (`collectors.formats.wire`):

    sequence    of the frame's head
    run_id      16 bytes of the head; null: `rest` is the whole payload
    s1 … s19    the sections of known tags
    rest        the bytes from the first that a reader of this version would not expect, to the end

The head's window is not kept, since the entry's time says it. Whatever the canonical encoding
would not give back to the byte (integers padded with zeros, tags twice or out of order) is left
in `rest`: putting a frame together is then only concatenation and cannot be wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from collectors.formats import wire
from collectors.formats.codec import Writer
from collectors.formats.keys import Entry

TAGS = tuple(tag for tag in range(1, 20) if tag not in (3, 14))
NAMES = {tag: f"s{tag}" for tag in TAGS}

_HEAD = bytes((wire.MAGIC, wire.VERSION))
_RUN_ID_BYTES = 16
# Sequences are kept as signed 64-bit integers.
_MAX_VARINT_BYTES = 9


@dataclass(frozen=True)
class Cut:
    columns: pa.Table
    unreadable: int


def cut(entries: Sequence[Entry]) -> Cut:
    """Cuts frames into columns, one row per entry; counts those that it cannot cut."""
    count = len(entries)
    sequences: list[int | None] = [None] * count
    run_ids: list[bytes | None] = [None] * count
    rests: list[bytes | None] = [None] * count
    columns: dict[int, list[bytes | None]] = {}
    known = frozenset(TAGS)
    times: list[int] = []
    unreadable = 0
    for row, (at_ms, data) in enumerate(entries):
        times.append(at_ms)
        head = _HEAD + _varint(at_ms // wire.WINDOW_MS)
        at = len(head)
        if at_ms % wire.WINDOW_MS or not data.startswith(head):
            rests[row] = data
            unreadable += 1
            continue
        end = len(data)
        try:
            # An integer ends with the first byte below 0x80.
            sequence = data[at]
            at += 1
            if sequence > 0x7F:
                sequence, at = _longer(data, at)
        except (IndexError, ValueError):
            at = end + 1
        if at + _RUN_ID_BYTES > end:
            rests[row] = data
            unreadable += 1
            continue
        sequences[row] = sequence
        run_ids[row] = data[at : at + _RUN_ID_BYTES]
        at += _RUN_ID_BYTES
        before = 0
        while at < end:
            tag = data[at]
            if tag <= before or tag not in known or at + 1 == end:
                break
            start = at + 2
            length = data[at + 1]
            if length > 0x7F:
                try:
                    length, start = _longer(data, start)
                except (IndexError, ValueError):
                    break
            if start + length > end:
                break
            column = columns.get(tag)
            if column is None:
                column = columns[tag] = [None] * count
            at = start + length
            column[row] = data[start:at]
            before = tag
        if at < end:
            rests[row] = data[at:]
    binary = pa.binary()
    arrays = {
        "at_ms": pa.array(times, pa.int64()),
        "sequence": pa.array(sequences, pa.int64()),
        "run_id": pa.array(run_ids, binary),
        **{NAMES[tag]: pa.array(columns[tag], binary) for tag in sorted(columns)},
    }
    if any(rest is not None for rest in rests):
        arrays["rest"] = pa.array(rests, binary)
    return Cut(pa.table(arrays), unreadable)


def joined(columns: pa.Table) -> list[Entry]:
    """The entries of these rows, each payload with the very bytes that it was cut from."""
    times = columns["at_ms"].to_pylist()
    payloads: list[bytes | bytearray]
    sequences = columns["sequence"].to_pylist()
    run_ids = columns["run_id"].to_pylist()
    payloads = [
        _HEAD + _varint(at_ms // wire.WINDOW_MS) + _varint(sequence) + run_id
        if run_id is not None
        else b""
        for at_ms, sequence, run_id in zip(times, sequences, run_ids, strict=True)
    ]
    present = [tag for tag in TAGS if NAMES[tag] in columns.column_names]
    for tag in present:
        head = bytes((tag,))
        for row, section in enumerate(columns[NAMES[tag]].to_pylist()):
            if section is not None:
                payloads[row] += head + _varint(len(section)) + section
    if "rest" in columns.column_names:
        for row, rest in enumerate(columns["rest"].to_pylist()):
            if rest is not None:
                payloads[row] += rest
    return [Entry(at_ms, bytes(payload)) for at_ms, payload in zip(times, payloads, strict=True)]


def _longer(data: bytes, at: int) -> tuple[int, int]:
    """Reads the integer whose first byte, with its high bit set, is before `at`; returns it and
    where it ends. A `ValueError` if our writer would have written it otherwise."""
    value, shift = data[at - 1] & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        if byte < 0x80:
            if not byte or shift > 7 * (_MAX_VARINT_BYTES - 1):
                raise ValueError("padded, or beyond 63 bits")
            return value | byte << shift, at
        value |= (byte & 0x7F) << shift
        shift += 7


def _varint(value: int) -> bytes:
    if value < 0x80:
        return _SHORT[value]
    out = Writer()
    out.varint(value)
    return out.bytes()


_SHORT = [bytes((value,)) for value in range(0x80)]

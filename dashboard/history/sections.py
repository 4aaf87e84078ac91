"""Frames cut into columns, and put together again byte for byte.

A frame is cut at its tags and lengths and not decoded, so like lies beside like in a file and a
reader takes only the sections that it wants (`collectors.formats.wire`):

    sequence    of the frame's head
    run_id      16 bytes of the head; null: `rest` is the whole payload
    s1 … s21    the sections of known tags
    rest        the bytes from the first that a reader of this version would not expect, to the end

The head's window is not kept, since the entry's time says it. Whatever the canonical encoding
would not give back to the byte (integers padded with zeros, tags twice or out of order) is left
in `rest`: putting a frame together is then only concatenation and cannot be wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from collectors.formats import wire
from collectors.formats.codec import Writer
from collectors.formats.keys import Entry

TAGS = tuple(tag for tag in range(1, 22) if tag not in (3, 14))
NAMES = {tag: f"s{tag}" for tag in TAGS}

_KNOWN = frozenset(TAGS)
_HEAD = bytes((wire.MAGIC, wire.VERSION))
_RUN_ID_BYTES = 16
# Nine groups of seven bits fit a signed 64-bit column.
_MAX_SHIFT = 7 * 8


@dataclass(frozen=True)
class Cut:
    """Rows of a table, one for each entry; `unreadable` of them are kept whole."""

    rows: pa.Table
    unreadable: int


def cut(entries: Sequence[Entry]) -> Cut:
    """Cuts frames into columns; a column that no frame has a value for is left out."""
    count = len(entries)
    sequences: list[int | None] = [None] * count
    run_ids: list[bytes | None] = [None] * count
    columns: dict[str, list[bytes | None]] = {}
    rests: dict[int, bytes] = {}
    for row, (at_ms, data) in enumerate(entries):
        try:
            sequences[row], at = _head(at_ms, data)
        except (IndexError, ValueError):
            rests[row] = data
            continue
        run_ids[row] = data[at : at + _RUN_ID_BYTES]
        at += _RUN_ID_BYTES
        before, end = 0, len(data)
        while at < end:
            # The loop that a frame spends most of its time in: hence no calls.
            if not before < (tag := data[at]) or tag not in _KNOWN or at + 1 == end:
                break
            start, length = at + 2, data[at + 1]
            if length > 0x7F:
                try:
                    length, start = _integer(data, at + 1)
                except (IndexError, ValueError):
                    break
            if start + length > end:
                break
            at, before = start + length, tag
            name = NAMES[tag]
            if name not in columns:
                columns[name] = [None] * count
            columns[name][row] = data[start:at]
        if at < end:
            rests[row] = data[at:]
    if rests:
        columns["rest"] = [rests.get(row) for row in range(count)]
    rows = {
        "at_ms": pa.array([entry.at_ms for entry in entries], pa.int64()),
        "sequence": pa.array(sequences, pa.int64()),
        "run_id": pa.array(run_ids, pa.binary()),
        **{name: pa.array(column, pa.binary()) for name, column in columns.items()},
    }
    return Cut(pa.table(rows), unreadable=run_ids.count(None))


def joined(rows: pa.Table) -> list[Entry]:
    """The entries of these rows, each payload with the very bytes that it was cut from."""
    times = rows["at_ms"].to_pylist()
    sequences, run_ids = _values(rows, "sequence"), _values(rows, "run_id")
    payloads = [
        b""
        if run_id is None
        else _HEAD + _varint(at_ms // wire.WINDOW_MS) + _varint(sequence) + run_id
        for at_ms, sequence, run_id in zip(times, sequences, run_ids, strict=True)
    ]
    for tag, name in NAMES.items():
        if name in rows.column_names:
            head = bytes((tag,))
            for row, section in enumerate(rows[name].to_pylist()):
                if section is not None:
                    payloads[row] += head + _varint(len(section)) + section
    if "rest" in rows.column_names:
        for row, rest in enumerate(rows["rest"].to_pylist()):
            if rest is not None:
                payloads[row] += rest
    return [Entry(at_ms, payload) for at_ms, payload in zip(times, payloads, strict=True)]


def _values(rows: pa.Table, name: str) -> list[Any]:
    """A file without a value in a column is without the column."""
    return rows[name].to_pylist() if name in rows.column_names else [None] * len(rows)


def _head(at_ms: int, data: bytes) -> tuple[int, int]:
    """The sequence, and where the run id begins. Raises for anything but our frame of `at_ms`."""
    head = _HEAD + _varint(at_ms // wire.WINDOW_MS)
    if at_ms % wire.WINDOW_MS or not data.startswith(head):
        raise ValueError("not a frame of this window and version")
    sequence, at = _integer(data, len(head))
    if at + _RUN_ID_BYTES > len(data):
        raise ValueError("cut off")
    return sequence, at


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """The integer at `at`, and where it ends; raises if our writer had written it otherwise."""
    value = shift = 0
    while (byte := data[at]) > 0x7F:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if shift > _MAX_SHIFT:
            raise ValueError("an integer that does not end")
    if shift and not byte:
        raise ValueError("an integer that is padded with zeros")
    return value | byte << shift, at + 1


@lru_cache(maxsize=4096)
def _varint(value: int) -> bytes:
    out = Writer()
    out.varint(value)
    return out.bytes()

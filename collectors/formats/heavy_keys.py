"""The frame's section on the keys that `watch_keys` counted, about once a second.

varint    number of watched lists of columns, then each
  text      columns                  "user_id", or "user_id, country"
  varint    sampled                  rows that were counted, of all keys, over the last minute
  varint    number of keys, the most frequent first, then each
    text      key                    cut to 64 characters
    varint    partition              the state partition that the key's rows go to
    varint    rows                   of the sampled ones: at least so many had this key
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.formats.codec import Garbled, Reader, Writer

# Partitions are Spark's 32-bit integers.
_INT = 1 << 31


@dataclass(frozen=True)
class KeyRows:
    key: str
    partition: int
    rows: int


@dataclass(frozen=True)
class WatchedKeys:
    columns: str
    sampled: int
    keys: tuple[KeyRows, ...] = ()


def write(out: Writer, watched: Sequence[WatchedKeys]) -> None:
    out.varint(len(watched))
    for each in watched:
        out.text(each.columns)
        out.varint(each.sampled)
        out.varint(len(each.keys))
        for key in each.keys:
            out.text(key.key)
            out.varint(key.partition)
            out.varint(key.rows)


def read(reader: Reader) -> tuple[WatchedKeys, ...]:
    return tuple(_watched(reader) for _ in range(reader.varint()))


def _watched(reader: Reader) -> WatchedKeys:
    columns, sampled = reader.text(), reader.varint()
    keys = tuple(_key(reader, sampled) for _ in range(reader.varint()))
    return WatchedKeys(columns, sampled, keys)


def _key(reader: Reader, sampled: int) -> KeyRows:
    found = KeyRows(reader.text(), reader.varint(), reader.varint())
    if found.partition >= _INT or not 0 < found.rows <= sampled:
        raise Garbled(f"{found.rows} rows of {sampled} in partition {found.partition}")
    return found

"""Merges the keys that executors counted (`watch_keys`) over the last minute, by query.

The body of an event is one line of JSON (`probe/keys/HeavyKeys.scala`), its context the query:

    {"columns": "user_id", "sampled": 512, "keys": [{"key": "42", "partition": 3, "rows": 200}, …]}

An executor sends the 16 heaviest keys of each second, so a sum over executors and seconds is at
most what was counted: no key seems heavier than it is.
"""

import heapq
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from collectors.formats.codec import Garbled
from collectors.formats.heavy_keys import KeyRows, WatchedKeys
from collectors.formats.parts import Event
from collectors.formats.wire import WINDOW_MS

LASTS_MS = 60_000
BIN_MS = 5_000
EVERY_MS = 1_000
# Bounds of memory and of a frame. Keys beyond them are the rarest.
MOST_COLUMNS, MOST_KEYS_OF_A_BIN, MOST_KEYS = 4, 1024, 16
LONGEST_KEY, LONGEST_COLUMNS = 64, 200

_Place = tuple[str, int]


@dataclass
class _Bin:
    number: int
    sampled: int = 0
    rows: dict[_Place, int] = field(default_factory=dict)


class HeavyKeys:
    """Time is the number of the window that is open."""

    def __init__(self) -> None:
        self._bins: dict[str, dict[str, deque[_Bin]]] = {}

    def hear(self, event: Event, window: int) -> None:
        """Adds what an executor counted; raises `Garbled` if the event does not say it."""
        told = _parse(event.body)
        bins = self._bins.setdefault(event.context, {})
        if told.columns not in bins and len(bins) >= MOST_COLUMNS:
            return
        held = bins.setdefault(told.columns, deque(maxlen=LASTS_MS // BIN_MS))
        number = window * WINDOW_MS // BIN_MS
        if not held or held[-1].number != number:
            held.append(_Bin(number))
        newest = held[-1]
        newest.sampled += told.sampled
        _pour(newest.rows, told.keys)
        if len(newest.rows) > 2 * MOST_KEYS_OF_A_BIN:
            newest.rows = dict(_most(newest.rows, MOST_KEYS_OF_A_BIN))

    def of(self, query_id: str, window: int) -> tuple[WatchedKeys, ...]:
        """The heaviest keys of the last minute, in one window of each second; else nothing."""
        bins = self._bins.get(query_id)
        if not bins or window * WINDOW_MS % EVERY_MS:
            return ()
        oldest = (window * WINDOW_MS - LASTS_MS) // BIN_MS
        return tuple(_merged(columns, held, oldest) for columns, held in bins.items())

    def forget(self, query_id: str) -> None:
        self._bins.pop(query_id, None)


def _merged(columns: str, bins: deque[_Bin], oldest: int) -> WatchedKeys:
    rows: dict[_Place, int] = {}
    sampled = 0
    for each in bins:
        if each.number >= oldest:
            sampled += each.sampled
            for place, count in each.rows.items():
                rows[place] = rows.get(place, 0) + count
    heaviest = (KeyRows(*place, count) for place, count in _most(rows, MOST_KEYS))
    return WatchedKeys(columns, sampled, tuple(heaviest))


def _most(rows: dict[_Place, int], most: int) -> list[tuple[_Place, int]]:
    return heapq.nlargest(most, rows.items(), key=lambda item: item[1])


def _pour(into: dict[_Place, int], keys: tuple[KeyRows, ...]) -> None:
    for each in keys:
        place = (each.key, each.partition)
        into[place] = into.get(place, 0) + each.rows


def _parse(body: str) -> WatchedKeys:
    try:
        told = json.loads(body)
        sampled = _count(told["sampled"])
        keys = tuple(_keys(told["keys"]))
        columns = _text(told["columns"], LONGEST_COLUMNS)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(f"no heavy keys: {error}") from error
    if sum(each.rows for each in keys) > sampled:
        raise Garbled(f"more rows with heavy keys than the {sampled} sampled")
    return WatchedKeys(columns, sampled, keys)


def _keys(told: Any) -> Iterator[KeyRows]:
    for each in told[:MOST_KEYS]:
        key = KeyRows(
            _text(each["key"], LONGEST_KEY), _count(each["partition"]), _count(each["rows"])
        )
        if key.rows:
            yield key


def _text(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} instead of a text")
    # JSON may hold half a surrogate pair, which no frame can, and NUL, which no PostgreSQL can.
    return "".join(each if each.isprintable() else "?" for each in value[:longest])


def _count(value: Any) -> int:
    # A bool is an int to Python, so compare the type.
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise ValueError(f"{value!r} is no count")
    return value

"""A job's latest intervals of one kind, by column: added at the end, dropped at the front."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectors.formats.activity import Activity
from techniques.intervals import NONE, Intervals

TYPES = (np.float64, np.float64, object, np.int64, np.int64, object, np.int64)
LEAST = 256


class IntervalBuffer:
    """Not more than `most`; the oldest go first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._columns: list[NDArray[Any]] = [np.empty(LEAST, dtype) for dtype in TYPES]
        self._first = self._after = 0

    def add(self, ended: Iterable[Activity]) -> None:
        rows = [
            (
                each.start_us / 1000,
                each.end_us / 1000,
                each.executor_id,
                NONE if each.operator is None else each.operator,
                NONE if each.partition is None else each.partition,
                each.name,
                NONE if each.input_bytes is None else each.input_bytes,
            )
            for each in ended
        ]
        self._make_room(len(rows))
        after = self._after + len(rows)
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            column[self._after : after] = values
        self._after = after
        self._first = max(self._first, after - self._most)

    def drop_before(self, oldest_ms: float) -> None:
        """Up to the first that ended later."""
        ends_ms = self._columns[1]
        while self._first < self._after and ends_ms[self._first] < oldest_ms:
            self._first += 1

    def intervals(self) -> Intervals:
        """As they are now: what is added or dropped later does not change it."""
        held = slice(self._first, self._after)
        start, end, executor, operator, partition, name, input_bytes = self._columns
        return Intervals(
            self._kind,
            start[held],
            end[held],
            executor[held],
            operator[held],
            partition[held],
            name[held],
            input_bytes[held],
        )

    def _make_room(self, more: int) -> None:
        """In new arrays: somebody may still look at the old ones."""
        if self._after + more <= len(self._columns[0]):
            return
        held = slice(self._first, self._after)
        size = max(LEAST, 2 * (self._after - self._first + more))
        for at, column in enumerate(self._columns):
            self._columns[at] = np.empty(size, column.dtype)
            self._columns[at][: self._after - self._first] = column[held]
        self._first, self._after = 0, self._after - self._first

"""A job's latest rows of one kind, by column: added at the end, dropped at the front."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 256


class ColumnBuffer:
    """Keeps at most `most` rows and drops the oldest; `time` is the index of the time column."""

    def __init__(self, types: Sequence[type], most: int, time: int = 0) -> None:
        self._most = most
        self._time = time
        self._columns: list[NDArray[Any]] = [np.empty(LEAST, dtype) for dtype in types]
        self._first = self._after = 0

    def __len__(self) -> int:
        return self._after - self._first

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        rows = rows[-self._most :]
        self._make_room(len(rows))
        after = self._after + len(rows)
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            column[self._after : after] = values
        self._after = after
        self._first = max(self._first, after - self._most)

    def drop_before(self, oldest_ms: float) -> None:
        """Drops rows from the front up to the first that is not older than `oldest_ms`."""
        times = self._columns[self._time]
        while self._first < self._after and times[self._first] < oldest_ms:
            self._first += 1

    def columns(self) -> list[NDArray[Any]]:
        """Returns the present rows, one array per column; later calls do not change them."""
        held = slice(self._first, self._after)
        return [column[held] for column in self._columns]

    def _make_room(self, more: int) -> None:
        """Grows into new arrays, because callers of `columns` may still use the old ones."""
        if self._after + more <= len(self._columns[0]):
            return
        held = slice(self._first, self._after)
        size = max(LEAST, 2 * (len(self) + more))
        for at, column in enumerate(self._columns):
            self._columns[at] = np.empty(size, column.dtype)
            self._columns[at][: len(self)] = column[held]
        self._first, self._after = 0, len(self)

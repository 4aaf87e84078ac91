"""Arrays of a job's latest windows, by key; NaN is *not known*."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np

from techniques.view import Floats

K = TypeVar("K", bound=Hashable)


class Tracks(Generic[K]):
    """Arrays with the last `windows` windows of every key, all shifted together."""

    def __init__(self, windows: int) -> None:
        self._windows = windows
        # Twice as long as what is kept, so that values need not be moved with every frame.
        self._size = 2 * windows
        self._values: dict[K, Floats] = {}
        self._after = 0
        # The index at which the window `_after` would be.
        self._end = windows

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def move_to(self, after: int) -> None:
        """Makes `after` - 1 the newest window; the windows skipped on the way are NaN."""
        by = min(after - self._after, self._windows) if self._after else self._windows
        self._after = after
        if self._end + by > self._size:
            self._move_to_front(self._windows - by)
        for values in self._values.values():
            values[self._end : self._end + by] = np.nan
        self._end += by

    def of(self, key: K) -> Floats:
        """The whole array of a key, to be indexed with `place`."""
        if (values := self._values.get(key)) is None:
            values = self._values[key] = np.full(self._size, np.nan)
        return values

    def place(self, window: int) -> int:
        """The index of a window, which must not be older than the windows kept."""
        return self._end - (self._after - window)

    def last(self, key: K, windows: int) -> Floats:
        return self.of(key)[self._end - windows : self._end]

    def _move_to_front(self, kept: int) -> None:
        for values in self._values.values():
            values[:kept] = values[self._end - kept : self._end]
        self._end = kept
        # Hosts, executors and instances come and go: drop keys without any value left.
        for key in [each for each, held in self._values.items() if np.isnan(held[:kept]).all()]:
            del self._values[key]

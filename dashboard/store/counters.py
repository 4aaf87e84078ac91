"""Counters in this process's memory, for tests and for the time that Redis is away."""

from collections.abc import Sequence
from threading import Lock

# Too many names must not fill the memory; starting from zero again is the lesser evil.
MOST_NAMES = 10_000


class Counters:
    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = Lock()

    def add(self, names: Sequence[str], by: int) -> list[int]:
        with self._lock:
            if len(self._counts) > MOST_NAMES:
                self._counts.clear()
            for name in names:
                self._counts[name] = self._counts.get(name, 0) + by
            return [self._counts[name] for name in names]

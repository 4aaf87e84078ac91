"""When a run has warmed up: the first batches load classes, compile code and catch up. Pure.

Each of them takes less time than the one before, so their latencies tell of the start and not of
the job. A run is steady once its batches no longer get shorter: the median of the last three is
not less than 0.9 of the median of the three before. A median, because a compaction or a checkpoint
may make every third or fourth batch long; of three, because more would hide a job of long batches
for minutes. A job whose batches take minutes (real-time mode) or that has none would never show
six of them: a minute after its start every run counts as steady.
"""

from collections import deque
from statistics import median

MOST_MS = 60_000
COMPARED = 3
NO_SHORTER = 0.9


class WarmUp:
    def __init__(self, started_ms: int) -> None:
        self._steady_ms = started_ms + MOST_MS
        self._durations_ms: deque[int] = deque(maxlen=2 * COMPARED)

    def add(self, duration_ms: int, end_ms: int) -> None:
        """Adds a finished batch; call in the order in which batches end."""
        if end_ms >= self._steady_ms:
            return
        self._durations_ms.append(duration_ms)
        if len(self._durations_ms) == 2 * COMPARED:
            before, last = median(self._half(0)), median(self._half(COMPARED))
            if last >= NO_SHORTER * before:
                self._steady_ms = end_ms

    def is_over(self, at_ms: int) -> bool:
        return at_ms >= self._steady_ms

    def _half(self, first: int) -> list[int]:
        return list(self._durations_ms)[first : first + COMPARED]

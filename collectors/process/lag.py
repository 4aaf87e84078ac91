"""How old the oldest record is that a query has not read yet. Time is an argument.

Spark tells offsets, not times. But each progress event says how many rows a partition had when the
micro-batch was planned. Remembering that gives a line from rows to time: the oldest unread record,
which is the one at the end offset, came when the partition had that many rows. Between two events
rows are taken to come evenly. Where the backlog is older than the run, nobody saw it come. Then the
newest event time of the last batch tells (if the query has a watermark), or, as an estimate, the
rate at which rows have come since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from collectors.formats.lag import Basis, Lag, PartitionLag, worst_of
from collectors.process.events.offsets import PartitionOffsets
from collectors.process.events.progress import Progress

MOST_POINTS = 64
# Of all partitions together, so that a topic of thousands does not take the collector's memory.
MOST_POINTS_IN_ALL = 64_000
FEWEST_POINTS = 4
# A rate over less than this says little.
RATE_AFTER_MS = 10_000


@dataclass
class OffsetTimes:
    """When one partition had how many rows: points of (epoch ms, rows), both ascending."""

    points: list[tuple[int, int]] = field(default_factory=list)

    def see(self, at_ms: int, latest: int, end: int, most: int = MOST_POINTS) -> None:
        """Adds what was seen; what came before `end` is read, and forgotten."""
        points = self.points
        if points and (latest < points[-1][1] or at_ms < points[-1][0]):
            points.clear()  # the topic was made anew, or the clock was set back
        if len(points) > 1 and points[-1][1] == points[-2][1] == latest:
            points[-1] = (at_ms, latest)
        else:
            points.append((at_ms, latest))
        while len(points) > 1 and points[1][1] <= end:
            del points[0]
        if len(points) > most:
            # Every second one, and those at both ends: the line gets coarser, not shorter.
            self.points = [*points[:-1:2], points[-1]]

    def came_ms(self, offset: int) -> int | None:
        """Returns when the record at `offset` came, or None if that was before the first look."""
        points = self.points
        if not points or points[0][1] > offset:
            return None
        for (from_ms, before), (to_ms, after) in pairwise(points):
            if before <= offset < after:
                return from_ms + (to_ms - from_ms) * (offset - before) // (after - before)
        return None


class LagTracker:
    """The lag of one run."""

    def __init__(self) -> None:
        self._times: dict[tuple[int, str], OffsetTimes] = {}
        self._partitions: tuple[PartitionOffsets, ...] = ()
        # Rows in all partitions when they were first seen.
        self._first: tuple[int, int] | None = None
        self._basis = Basis.NONE
        self._lag_ms: int | None = None
        # When the oldest unread record came; while set, the lag grows with the clock.
        self._since_ms: int | None = None

    def add(self, progress: Progress) -> None:
        if progress.offsets:
            self._see(progress.offsets, progress.planned_ms)
            self._judge(progress)
        elif progress.batch is None:
            # Whatever the source is, it had nothing to read.
            self._partitions = tuple(_read(each) for each in self._partitions)
            self._set(Basis.OFFSETS, lag_ms=0)
        elif not self._by_event_time(progress):
            self._set(Basis.NONE)

    def at(self, now_ms: int) -> Lag | None:
        """Returns the lag at that moment; None if neither time nor rows are known."""
        lag_ms = self._lag_ms
        if self._since_ms is not None:
            lag_ms = max(0, now_ms - self._since_ms)
        if lag_ms is None and not self._partitions:
            return None
        behind = [PartitionLag(each.partition, each.behind_rows) for each in self._partitions]
        return Lag(lag_ms, self._basis, len(self._partitions), worst_of(behind))

    def _see(self, offsets: tuple[PartitionOffsets, ...], at_ms: int) -> None:
        most = max(FEWEST_POINTS, min(MOST_POINTS, MOST_POINTS_IN_ALL // len(offsets)))
        times = {}
        for each in offsets:
            key = each.source, each.partition
            times[key] = self._times.get(key) or OffsetTimes()
            times[key].see(at_ms, each.latest, each.end, most)
        # A partition that came or went changes the sum by rows that nobody sent.
        if times.keys() != self._times.keys() or self._first is None:
            self._first = at_ms, _rows(offsets)
        self._times, self._partitions = times, offsets

    def _judge(self, progress: Progress) -> None:
        behind = [each for each in self._partitions if each.behind_rows]
        if not behind:
            self._set(Basis.OFFSETS, lag_ms=0)
            return
        came_ms = [self._times[each.source, each.partition].came_ms(each.end) for each in behind]
        known_ms = [each for each in came_ms if each is not None]
        if len(known_ms) == len(behind):
            self._set(Basis.OFFSETS, since_ms=min(known_ms))
        elif not self._by_event_time(progress):
            self._by_rate(progress.planned_ms)

    def _by_event_time(self, progress: Progress) -> bool:
        if progress.batch is None or progress.newest_event_ms is None:
            return False
        lag_ms = max(0, progress.batch.end_ms - progress.newest_event_ms)
        self._set(Basis.EVENT_TIME, lag_ms=lag_ms)
        return True

    def _by_rate(self, now_ms: int) -> None:
        first_ms, first_rows = self._first or (now_ms, 0)
        came = _rows(self._partitions) - first_rows
        if now_ms - first_ms < RATE_AFTER_MS or came <= 0:
            self._set(Basis.NONE)
            return
        behind = sum(each.behind_rows for each in self._partitions)
        self._set(Basis.RATE, since_ms=now_ms - behind * (now_ms - first_ms) // came)

    def _set(self, basis: Basis, lag_ms: int | None = None, since_ms: int | None = None) -> None:
        self._basis, self._lag_ms, self._since_ms = basis, lag_ms, since_ms


def _rows(offsets: Sequence[PartitionOffsets]) -> int:
    return sum(each.latest for each in offsets)


def _read(each: PartitionOffsets) -> PartitionOffsets:
    return PartitionOffsets(each.source, each.partition, each.latest, each.latest)

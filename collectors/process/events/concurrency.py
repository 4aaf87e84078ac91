"""How many of several intervals ran at the same time inside a window."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Interval(Generic[K]):
    """A half-open interval of at least one microsecond; without an end it is still running."""

    key: K
    start_us: int
    end_us: int | None = None

    def ends_before(self, time_us: int) -> bool:
        return self.end_us is not None and max(self.end_us, self.start_us + 1) <= time_us


def most_at_once(intervals: Iterable[Interval[K]], start_us: int, end_us: int) -> dict[K, int]:
    """Per key, the most that ran at any one moment of [start, end); keys without any are left out.

    One that ends when another starts does not overlap it. One that starts and ends in the same
    microsecond ran for that microsecond. Sorts, so n log n in the number of intervals.
    """
    edges: dict[K, list[tuple[int, int]]] = defaultdict(list)
    for each in intervals:
        if each.start_us >= end_us or each.ends_before(start_us):
            continue
        ends = end_us if each.end_us is None else max(each.end_us, each.start_us + 1)
        # At equal times the end sorts first.
        edges[each.key] += [(max(each.start_us, start_us), 1), (min(ends, end_us), -1)]
    return {key: _highest(sorted(found)) for key, found in edges.items()}


def _highest(edges: list[tuple[int, int]]) -> int:
    running = highest = 0
    for _, step in edges:
        running += step
        highest = max(highest, running)
    return highest

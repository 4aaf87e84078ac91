"""Activities as the API and the live feed show them: intervals of a job, oldest first.

The sizes of state stores are on the same stream, for controllers; they are no intervals and come by
the hundred, so they are left out here.
"""

from collections.abc import Iterable
from typing import Any

from collectors.formats.activity import Activity, Kind, decode
from collectors.formats.codec import Garbled
from collectors.formats.keys import Entry

# An interval is stored when it ends, so one that overlaps a range may be stored after the range.
LONGEST_MS = 30_000


def read(entries: Iterable[Entry], with_tasks: bool = True) -> tuple[list[Activity], int]:
    """The activities that can be read, and the number of entries that cannot."""
    activities: list[Activity] = []
    unreadable = 0
    for entry in entries:
        try:
            activities += decode(entry.payload, with_tasks)
        except Garbled:
            unreadable += 1
    return activities, unreadable


def overlapping(activities: Iterable[Activity], start_ms: int, end_ms: int) -> list[Activity]:
    inside = [a for a in activities if a.start_us < end_ms * 1000 and a.end_us >= start_ms * 1000]
    return sorted(inside, key=lambda activity: activity.start_us)


def rows(activities: Iterable[Activity]) -> list[dict[str, Any]]:
    return [
        {
            "kind": activity.kind.name.lower(),
            "start_ms": activity.start_us / 1000,
            "end_ms": activity.end_us / 1000,
            "executor": activity.executor_id,
            "operator": activity.operator,
            "partition": activity.partition,
            "name": activity.name,
            "reason": activity.reason,
            "input_bytes": activity.input_bytes,
            "output_bytes": activity.output_bytes,
        }
        for activity in activities
        if activity.kind is not Kind.STATE
    ]

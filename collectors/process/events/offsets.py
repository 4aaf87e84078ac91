"""How far each partition of a source has come, and how far the query has, from Spark's progress."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# A topic's name may have 249 characters, a source's description a whole configuration.
LONGEST_NAME = 80


@dataclass(frozen=True)
class PartitionOffsets:
    """`end` is what the query has read up to, `latest` what the source has, both in rows."""

    source: int
    partition: str
    end: int
    latest: int

    @property
    def behind_rows(self) -> int:
        return max(0, self.latest - self.end)


def of_source(number: int, source: Mapping[str, Any]) -> tuple[PartitionOffsets, ...] | None:
    """Returns the partitions of a source, or None if its offsets do not count rows.

    Kafka's offsets count rows. For other sources we assume so if offsets advance with the rows.
    """
    rows, description = source.get("numInputRows"), str(source.get("description", ""))
    end, latest = source.get("endOffset"), source.get("latestOffset")
    moved = _partitions(number, description, source.get("startOffset"), end)
    counts_rows = rows and moved is not None and rows == sum(each.behind_rows for each in moved)
    if not counts_rows and not description.startswith("Kafka"):
        return None
    return _partitions(number, description, end, latest)


def _partitions(
    number: int, description: str, end: Any, latest: Any
) -> tuple[PartitionOffsets, ...] | None:
    """Reads two offsets: numbers, or Kafka's topic → partition → number. Other formats give None.

    A partition that the batch did not know yet counts with all its rows."""
    if _is_number(latest) and _is_number(end):
        return (PartitionOffsets(number, _name(description.partition("[")[0]), end, latest),)
    if not isinstance(latest, dict) or not isinstance(end, dict):
        return None
    try:
        return tuple(_of_topics(number, end, latest))
    except _Unreadable:
        return None


class _Unreadable(Exception):
    """The offsets are in a format of another source's."""


def _of_topics(
    number: int, end: Mapping[str, Any], latest: Mapping[str, Any]
) -> Iterator[PartitionOffsets]:
    for topic, partitions in latest.items():
        taken = end.get(topic, {})
        if not isinstance(partitions, dict) or not isinstance(taken, dict):
            raise _Unreadable
        for partition, offset in partitions.items():
            before = taken.get(partition, 0)
            if not _is_number(offset) or not _is_number(before):
                raise _Unreadable
            yield PartitionOffsets(number, f"{_name(topic)}-{_name(partition)}", before, offset)


def _name(told: str) -> str:
    # JSON may hold half a surrogate pair, which no frame can.
    return told[:LONGEST_NAME].encode(errors="replace").decode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

"""How far a query is behind its sources: in time, and in rows of the source partitions.

varint    lag ms + 1               0 = not known
varint    basis                    of the lag in ms (`Basis`)
varint    partitions               of all sources that tell how far behind they are
varint    number of the partitions that are furthest behind, at most 8, then each
  text      name                     topic and partition (`orders-3`), or the source's name
  varint    rows
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from collectors.formats.codec import Garbled, Reader, Writer

# The partitions that a frame names: a topic may have thousands.
MOST_NAMED = 8


class Basis(IntEnum):
    """What the lag in time was made from; docs/metrics.md says how exact each is."""

    NONE = 0
    # When the source was seen to have as many rows as the query has read now.
    OFFSETS = 1
    # The newest event time in the last micro-batch.
    EVENT_TIME = 2
    # Rows not read, at the rate at which rows have come since the run began.
    RATE = 3


@dataclass(frozen=True)
class PartitionLag:
    partition: str
    rows: int


@dataclass(frozen=True)
class Lag:
    """`worst` has the partitions that are furthest behind, the furthest first."""

    lag_ms: int | None = None
    basis: Basis = Basis.NONE
    partitions: int = 0
    worst: tuple[PartitionLag, ...] = ()


def worst_of(partitions: Sequence[PartitionLag]) -> tuple[PartitionLag, ...]:
    """Returns the few partitions that are furthest behind; one that is not behind is left out."""
    behind = [each for each in partitions if each.rows]
    return tuple(sorted(behind, key=lambda each: (-each.rows, each.partition))[:MOST_NAMED])


def write(out: Writer, lag: Lag) -> None:
    out.optional(lag.lag_ms)
    out.varint(lag.basis)
    out.varint(lag.partitions)
    out.varint(len(lag.worst))
    for each in lag.worst:
        out.text(each.partition)
        out.varint(each.rows)


def read(reader: Reader) -> Lag:
    lag_ms, basis, partitions, named = (
        reader.optional(),
        reader.varint(),
        reader.varint(),
        reader.varint(),
    )
    if named > MOST_NAMED:
        raise Garbled(f"{named} partitions, at most {MOST_NAMED} are named")
    return Lag(
        lag_ms=lag_ms,
        # A basis that only a later Curtail knows is none that we could explain.
        basis=Basis(basis) if basis in _BASES else Basis.NONE,
        partitions=partitions,
        worst=tuple(PartitionLag(reader.text(), reader.varint()) for _ in range(named)),
    )


_BASES = frozenset(map(int, Basis))

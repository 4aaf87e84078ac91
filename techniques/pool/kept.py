"""A task's chunks while they are in the pool, and their results."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import pyarrow as pa

from techniques.pool import chunks
from techniques.pool.chunks import Part
from techniques.pool.dispatcher import Given


@dataclass(frozen=True)
class Chunk:
    """Rows, serialized for the ring."""

    schema_bytes: int
    parts: tuple[Part, ...]
    rows: int
    size: int

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Self:
        schema_bytes, parts = chunks.written(batch)
        return cls(schema_bytes, tuple(parts), batch.num_rows, chunks.size(parts))


class Done(NamedTuple):
    number: int
    result: pa.RecordBatch
    held_bytes: int


@dataclass
class Kept:
    """A chunk of this task that is in the pool."""

    chunk: Chunk
    held_bytes: int
    given: Given | None = None
    # Who got the second copy, if there is one and it is not lost.
    copy: Given | None = None
    was_replayed: bool = False
    sent_ns: int = 0
    deaths: int = 0

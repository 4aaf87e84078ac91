"""How much state each stateful operator of a query has, as Spark's progress told it last.

varint    number of operators, then each
  varint    operator
  text      name                     what Spark calls it: `stateStoreSave`, `dedupe` …
  varint    rows + 1                 0 = not told (RocksDB with trackTotalNumberOfRows=false)
  varint    memory bytes             `memoryUsedBytes`
  varint    file bytes + 1           of RocksDB's files; 0 = not told, as by other providers
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.formats.codec import Reader, Writer


@dataclass(frozen=True)
class StateSize:
    operator: int
    name: str = ""
    rows: int | None = None
    memory_bytes: int = 0
    file_bytes: int | None = None

    @property
    def state_bytes(self) -> int:
        """What the state takes: RocksDB's files, as its memory is mostly a cache of them. Before
        its first flush, and with a provider that has no files, the memory."""
        return self.file_bytes or self.memory_bytes


def write(out: Writer, sizes: Sequence[StateSize]) -> None:
    out.varint(len(sizes))
    for each in sizes:
        out.varint(each.operator)
        out.text(each.name)
        out.optional(each.rows)
        out.varint(each.memory_bytes)
        out.optional(each.file_bytes)


def read(reader: Reader) -> tuple[StateSize, ...]:
    return tuple(
        StateSize(
            operator=reader.varint(),
            name=reader.text(),
            rows=reader.optional(),
            memory_bytes=reader.varint(),
            file_bytes=reader.optional(),
        )
        for _ in range(reader.varint())
    )

"""What Spark's scheduler has on each executor: the cores it gives to tasks, and whether it goes.

varint    number of executors, then each
  text      id
  varint    cores
  varint    flags                    1 leaving: Spark decommissions it
"""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.formats.codec import Reader, Writer

_LEAVING = 1


@dataclass(frozen=True)
class ExecutorSlots:
    executor_id: str
    cores: int
    leaving: bool = False


def write(out: Writer, slots: Sequence[ExecutorSlots]) -> None:
    out.varint(len(slots))
    for each in slots:
        out.text(each.executor_id)
        out.varint(each.cores)
        out.varint(_LEAVING * each.leaving)


def read(reader: Reader) -> tuple[ExecutorSlots, ...]:
    return tuple(
        ExecutorSlots(reader.text(), reader.varint(), bool(reader.varint() & _LEAVING))
        for _ in range(reader.varint())
    )

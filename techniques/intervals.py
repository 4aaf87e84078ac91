"""Intervals one by one, and many of one kind by column.

Rules read the starts and ends of thousands of intervals every few seconds for every job: columns do
that at the speed of NumPy, and a row becomes an `Interval` object only when it is accessed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Objects = NDArray[np.object_]

# Stands for None in a column of integers.
NONE = -1


@dataclass(frozen=True)
class Interval:
    """Something with a start and an end: a flush, a compaction, a GC pause, a batch, a task …"""

    kind: str
    start_ms: float
    end_ms: float
    executor: str = ""
    operator: int | None = None
    partition: int | None = None
    name: str = ""
    input_bytes: int | None = None

    @property
    def duration_ms(self) -> float:
        return self.end_ms - self.start_ms


@dataclass(frozen=True, eq=False)
class Intervals(Sequence[Interval]):
    """Rows of one kind. A number picks a row, a slice or an array of NumPy picks rows."""

    kind: str
    start_ms: Floats
    end_ms: Floats
    executor: Objects
    operator: Ints
    partition: Ints
    name: Objects
    input_bytes: Ints

    @classmethod
    def of(cls, kind: str, rows: Iterable[Interval]) -> "Intervals":
        if isinstance(rows, cls):
            return rows
        rows = list(rows)
        return cls(
            kind,
            np.array([each.start_ms for each in rows], dtype=np.float64),
            np.array([each.end_ms for each in rows], dtype=np.float64),
            np.array([each.executor for each in rows], dtype=object),
            np.array([_or_none(each.operator) for each in rows], dtype=np.int64),
            np.array([_or_none(each.partition) for each in rows], dtype=np.int64),
            np.array([each.name for each in rows], dtype=object),
            np.array([_or_none(each.input_bytes) for each in rows], dtype=np.int64),
        )

    @property
    def duration_ms(self) -> Floats:
        return self.end_ms - self.start_ms

    def by_start(self) -> "Intervals":
        """Sorted by start; rows that start together keep their order."""
        if (self.start_ms[1:] >= self.start_ms[:-1]).all():
            return self
        return self[np.argsort(self.start_ms, kind="stable")]

    def __len__(self) -> int:
        return len(self.start_ms)

    @overload
    def __getitem__(self, at: int) -> Interval: ...

    @overload
    def __getitem__(self, at: "slice | NDArray[Any]") -> "Intervals": ...

    def __getitem__(self, at: "int | slice | NDArray[Any]") -> "Interval | Intervals":
        if isinstance(at, slice | np.ndarray):
            return Intervals(self.kind, *(column[at] for column in self._columns))
        return self._row(*(column[at] for column in self._columns))

    def __iter__(self) -> Iterator[Interval]:
        rows = zip(*(column.tolist() for column in self._columns), strict=True)
        return (self._row(*row) for row in rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervals) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return (
            self.start_ms,
            self.end_ms,
            self.executor,
            self.operator,
            self.partition,
            self.name,
            self.input_bytes,
        )

    def _row(
        self,
        start_ms: float,
        end_ms: float,
        executor: str,
        operator: int,
        partition: int,
        name: str,
        input_bytes: int,
    ) -> Interval:
        return Interval(
            kind=self.kind,
            start_ms=float(start_ms),
            end_ms=float(end_ms),
            executor=executor,
            operator=_known(operator),
            partition=_known(partition),
            name=name,
            input_bytes=_known(input_bytes),
        )


def _or_none(value: int | None) -> int:
    return NONE if value is None else value


def _known(value: int) -> int | None:
    return None if value == NONE else int(value)

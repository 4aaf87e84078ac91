"""What frames have once a second, as a number per row: lag, and the size of the state, of all
operators and of each.

One row in twenty has any of it, so these are decoded one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from collectors.formats import lag, state_sizes
from collectors.formats.codec import Garbled, Reader
from dashboard.history import named_columns
from dashboard.history.bucket_columns import Floats
from dashboard.history.named_columns import Named
from dashboard.history.varints import Ints

T = TypeVar("T")


def lag_ms(section: pa.Array) -> Floats:
    """The lag in time; NaN where it is not told."""
    return _numbers(section, lambda reader: lag.read(reader).lag_ms)


def state_rows(section: pa.Array) -> Floats:
    """The rows of all operators that tell them; NaN where none does."""
    return _numbers(section, _rows)


def state_bytes(section: pa.Array) -> Floats:
    return _numbers(
        section, lambda reader: sum(each.state_bytes for each in state_sizes.read(reader))
    )


def by_operator(section: pa.Array, group: Ints) -> tuple[Named, Named]:
    """The highest bytes and rows of each operator in each group of rows; an operator that does not
    tell its rows has none."""
    groups = int(group[-1]) + 1 if len(group) else 0
    told = [
        (int(group[row]), size) for row, sizes in _read(section, state_sizes.read) for size in sizes
    ]
    return (
        _named(groups, [(at, size.operator, size.state_bytes) for at, size in told]),
        _named(groups, [(at, size.operator, size.rows) for at, size in told]),
    )


def _named(groups: int, told: Sequence[tuple[int, int, int | None]]) -> Named:
    known = [(at, operator, number) for at, operator, number in told if number is not None]
    names = sorted({operator for _, operator, _ in known})
    return named_columns.highest(
        groups,
        tuple(map(str, names)),
        np.array([at for at, _, _ in known], np.int64),
        np.array([names.index(operator) for _, operator, _ in known], np.int64),
        np.array([number for _, _, number in known], np.float64),
    )


def _rows(reader: Reader) -> int | None:
    told = [each.rows for each in state_sizes.read(reader) if each.rows is not None]
    return sum(told) if told else None


def _numbers(section: pa.Array, read: Callable[[Reader], int | None]) -> Floats:
    found = np.full(len(section), np.nan)
    for row, told in _read(section, read):
        if told is not None:
            found[row] = told
    return found


def _read(section: pa.Array, read: Callable[[Reader], T]) -> Iterator[tuple[int, T]]:
    """What the rows that have the section say in it."""
    valid = section.is_valid().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(valid).tolist():
        try:
            told = read(Reader(section[row].as_py()))
        except Garbled:
            continue  # a damaged section is not known, and the rest of its frame is
        yield row, told

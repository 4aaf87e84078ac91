"""A metric by host or executor: one value per row and name, the highest where there are several."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from collectors.formats import metrics, samples
from collectors.formats.codec import Garbled, Reader
from dashboard.history import varints
from dashboard.history.bucket_columns import Floats
from dashboard.history.varints import Ints
from dashboard.series.executor_columns import By

TYPE = pa.map_(pa.string(), pa.float64())


@dataclass(frozen=True)
class Named:
    """Values ascending by row and name; `name` is a place in `names`."""

    rows: int
    names: tuple[str, ...]
    row: Ints
    name: Ints
    value: Floats

    def merged(self, group: Ints, groups: int) -> "Named":
        """Keeps the highest value of each name in each group of rows."""
        return highest(groups, self.names, group[self.row], self.name, self.value)

    def column(self) -> pa.MapArray:
        offsets = np.zeros(self.rows + 1, np.int32)
        np.cumsum(np.bincount(self.row, minlength=self.rows), out=offsets[1:])
        keys = pa.array(self.names, pa.string()).take(pa.array(self.name))
        return pa.MapArray.from_arrays(pa.array(offsets), keys, pa.array(self.value))

    def by_name(self) -> dict[str, Floats]:
        """A column for each name; NaN where a row has no value of it."""
        found = {}
        for number, name in enumerate(self.names):
            values = found[name] = np.full(self.rows, np.nan)
            among = self.name == number
            values[self.row[among]] = self.value[among]
        return found


def read(column: pa.ChunkedArray) -> Named:
    """Reads a column that `Named.column` made; null is a row without values."""
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], TYPE)
    offsets = array.offsets.to_numpy()
    inside = slice(int(offsets[0]), int(offsets[-1])) if len(array) else slice(0)
    keys = array.keys[inside].dictionary_encode()
    return highest(
        len(array),
        tuple(keys.dictionary.to_pylist()),
        np.repeat(np.arange(len(array)), np.diff(offsets)),
        keys.indices.to_numpy().astype(np.int64),
        array.items[inside].to_numpy(),
    )


@dataclass(frozen=True)
class Measure:
    """A metric of `collectors.formats.metrics` and by whom its values are kept."""

    metric: str
    by: By

    def places(self, head: samples.Head) -> Iterator[tuple[str, int]]:
        """The hosts or executors and where among a frame's values each one's value is."""
        id_ = metrics.BY_NAME[self.metric].id
        if id_ in head.ids:
            place = head.ids.index(id_)
            for number, (executor, host) in enumerate(head.executors):
                name = host if self.by is By.HOST else executor
                yield name, number * len(head.ids) + place


def measured(section: pa.Array, measures: Sequence[Measure], group: Ints) -> list[Named]:
    """Reads the frames' section of executors: for each measure the highest of each group.

    `group` says to which group each row belongs; it does not descend."""
    groups = int(group[-1]) + 1 if len(group) else 0
    collected = [_Collected() for _ in measures]
    for rows, head, integers in _by_head(section):
        first = np.flatnonzero(np.diff(group[rows], prepend=-1))
        everywhere = np.arange(len(rows))
        for measure, found in zip(measures, collected, strict=True):
            for name, place in measure.places(head):
                told = integers.at(everywhere, place)
                # One more than the value, so that 0 is *not measured*; the last bit is the sign.
                value = ((told - 1) >> 1) ^ -((told - 1) & 1)
                most = np.maximum.reduceat(np.where(told > 0, value, _NOT_MEASURED), first)
                found.add(group[rows[first]], name, most)
    return [found.named(groups) for found in collected]


# `binary_slice` without an end fails on some arrays of pyarrow 26.
_LONGEST_SECTION = 2**31 - 1
_NOT_MEASURED = np.iinfo(np.int64).min


class _Collected:
    """The values of one measure, name by name."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._parts: list[tuple[Ints, Ints, Floats]] = []

    def add(self, rows: Ints, name: str, values: Ints) -> None:
        known = values > _NOT_MEASURED
        number = self._names.setdefault(name, len(self._names))
        self._parts.append((rows[known], np.full(known.sum(), number), values[known].astype(float)))

    def named(self, rows: int) -> Named:
        none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        row, name, value = (np.concatenate(each) for each in zip(none, *self._parts, strict=True))
        return highest(rows, tuple(self._names), row, name, value)


def _by_head(section: pa.Array) -> Iterator[tuple[Ints, samples.Head, varints.Integers]]:
    """Rows with the same executors and metrics, which hardly ever change, and their values."""
    left = np.flatnonzero(pc.fill_null(pc.binary_length(section), 0).to_numpy())
    while len(left):
        payloads = section.take(pa.array(left))
        reader = Reader(payloads[0].as_py())
        before = reader.left
        try:
            head = samples.read_head(reader)
        except Garbled:
            left = left[1:]
            continue
        length = before - reader.left
        alike = pc.starts_with(payloads, pattern=payloads[0].as_py()[:length])
        alike = alike.to_numpy(zero_copy_only=False)
        values = pc.binary_slice(payloads.filter(pa.array(alike)), length, _LONGEST_SECTION)
        yield left[alike], head, varints.read(*varints.bytes_of(values))
        left = left[~alike]


def highest(rows: int, names: tuple[str, ...], row: Ints, name: Ints, value: Floats) -> Named:
    """Values in any order, of which the highest of each row and name stays."""
    # Names in their order, so that equal tables have equal bytes however they were made.
    order_of = np.argsort(np.argsort(np.array(names, object))) if names else np.zeros(0, np.int64)
    width = max(1, len(names))
    key = row * width + order_of[name]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    most = np.maximum.reduceat(value[order], first) if len(first) else value[:0]
    return Named(rows, tuple(sorted(names)), key[first] // width, key[first] % width, most)

"""Latency histograms of a whole column at once: what `formats.buckets` does for one of them.

The bytes are those of `buckets.write`, and the percentiles are the very numbers of
`Histogram.quantiles_us`: within 1 % of the raw values, however often histograms were merged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collectors.formats import buckets
from dashboard.history import varints
from dashboard.history.varints import Flags, Ints

Floats = npt.NDArray[np.float64]

MIDDLES_US = np.array([buckets.middle_us(index) for index in range(buckets.BUCKETS)])
_LEAST_US = np.array([buckets.ORDINARY.bounds_us(index)[0] for index in range(buckets.BUCKETS)])


@dataclass(frozen=True)
class Histograms:
    """One histogram per row, as its filled buckets, ascending by row and bucket."""

    rows: int
    row: Ints
    index: Ints
    count: Ints

    def totals(self) -> Ints:
        """How many records each row has."""
        return np.bincount(self.row, self.count, self.rows).astype(np.int64)

    def quantiles_us(self, quantiles: Sequence[float]) -> list[Floats]:
        """For each quantile its value in each row (nearest rank); NaN in empty rows."""
        totals = self.totals()
        filled = np.flatnonzero(totals)
        ranks = np.cumsum(self.count)
        before = np.cumsum(totals) - totals
        found = []
        for quantile in quantiles:
            # The slack is that of `buckets`: 0.999 * 1000 is a little more than 999.
            rank = np.maximum(1, np.ceil(quantile * totals[filled] - 1e-9)).astype(np.int64)
            at = np.searchsorted(ranks, before[filled] + rank)
            values = np.full(self.rows, np.nan)
            values[filled] = MIDDLES_US[self.index[at]]
            found.append(values)
        return found

    def where(self, rows: Flags) -> "Histograms":
        """Empties all rows but these."""
        if rows.all():
            return self
        kept = rows[self.row]
        return Histograms(self.rows, self.row[kept], self.index[kept], self.count[kept])

    def merged(self, group: Ints, groups: int) -> "Histograms":
        """Adds the rows of each group; `group` says to which each row belongs."""
        return counted(groups, group[self.row], self.index, self.count)

    def plus(self, other: "Histograms") -> "Histograms":
        if not len(other.row) or not len(self.row):
            return self if len(self.row) else other
        return counted(
            self.rows,
            np.concatenate((self.row, other.row)),
            np.concatenate((self.index, other.index)),
            np.concatenate((self.count, other.count)),
        )

    def column(self) -> pa.BinaryArray:
        """Encodes every row as `buckets.write` does."""
        filled = np.bincount(self.row, minlength=self.rows)
        numbers = 1 + 2 * filled
        starts = np.cumsum(numbers) - numbers
        values = np.empty(int(numbers.sum()), np.int64)
        values[starts] = filled
        steps = np.diff(self.index, prepend=0)
        begins = np.diff(self.row, prepend=-1) > 0
        steps[begins] = self.index[begins]
        first_of_row = np.cumsum(filled) - filled
        at = starts[self.row] + 1 + 2 * (np.arange(len(self.row)) - first_of_row[self.row])
        values[at] = steps
        values[at + 1] = self.count
        return varints.write(values, numbers)


def read(column: pa.Array | pa.ChunkedArray) -> Histograms:
    """Decodes a column of `buckets.write`; a row that is none of those counts as empty."""
    integers = varints.read(*varints.bytes_of(column))
    rows = len(integers.first)
    number = integers.at(np.arange(rows), 0)
    filled = np.where(integers.number == 1 + 2 * number, number, 0)
    row = np.repeat(np.arange(rows), filled)
    first_of_row = np.cumsum(filled) - filled
    place = np.arange(len(row)) - first_of_row[row]
    at = integers.first[row] + 1 + 2 * place
    steps, count = integers.values(at), integers.values(at + 1)
    summed = np.cumsum(steps)
    index = summed - (summed - steps)[first_of_row[row]]
    good = np.ones(rows, bool)
    good[row[(index < 0) | (index >= buckets.BUCKETS) | ((steps == 0) & (place > 0))]] = False
    found = Histograms(rows, row, index, count)
    return found if good.all() else found.where(good)


def indexes_of(latencies_us: Ints) -> Ints:
    """The bucket of each value, as `buckets.index_of`."""
    us = np.clip(latencies_us, 0, buckets.MAX_US)
    return np.searchsorted(_LEAST_US, us, side="right") - 1


def counted(rows: int, row: Ints, index: Ints, count: Ints) -> Histograms:
    """Histograms from counts in any order, the same bucket any number of times."""
    key = row * buckets.BUCKETS + index
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    sums = np.add.reduceat(count[order], first) if len(first) else count[:0]
    return Histograms(rows, key[first] // buckets.BUCKETS, key[first] % buckets.BUCKETS, sums)

"""The micro-batches of a whole column of frames' sections at once (`collectors.formats.wire`)."""

from dataclasses import dataclass

import numpy as np

from collectors.formats.wire import PHASES
from dashboard.history import bucket_columns, varints
from dashboard.history.bucket_columns import Histograms
from dashboard.history.varints import Ints


@dataclass(frozen=True)
class Batches:
    """The micro-batches of each row."""

    number: Ints
    longest_ms: Ints
    rows_in: Ints
    # Every row of a batch took as long as the batch.
    latency: Histograms

    @classmethod
    def of(cls, integers: varints.Integers) -> "Batches":
        rows = len(integers.first)
        # A batch is its id, start, duration and rows in, then its phases.
        width = 4 + len(PHASES)
        number = integers.at(np.arange(rows), 0)
        number = np.where(integers.number == 1 + width * number, number, 0)
        row = np.repeat(np.arange(rows), number)
        place = np.arange(len(row)) - (np.cumsum(number) - number)[row]
        at = integers.first[row] + 1 + width * place
        duration_ms, rows_in = integers.values(at + 2), integers.values(at + 3)
        longest_ms = np.zeros(rows, np.int64)
        np.maximum.at(longest_ms, row, duration_ms)
        index = bucket_columns.indexes_of(duration_ms * 1000)
        return cls(
            number,
            longest_ms,
            np.bincount(row, rows_in, rows).astype(np.int64),
            bucket_columns.counted(rows, row, index, np.maximum(1, rows_in)),
        )

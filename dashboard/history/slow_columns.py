"""What frames have once a second, as a number per row: lag, and the size of the state.

One row in twenty has any of it, so these are decoded one by one.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from collectors.formats import lag, state_sizes
from collectors.formats.codec import Garbled, Reader
from dashboard.history.bucket_columns import Floats


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


def _rows(reader: Reader) -> int | None:
    told = [each.rows for each in state_sizes.read(reader) if each.rows is not None]
    return sum(told) if told else None


def _numbers(section: pa.Array, read: Callable[[Reader], int | None]) -> Floats:
    found = np.full(len(section), np.nan)
    valid = section.is_valid().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(valid).tolist():
        try:
            told = read(Reader(section[row].as_py()))
        except Garbled:
            continue  # a damaged section is not known, and the rest of its frame is
        if told is not None:
            found[row] = told
    return found

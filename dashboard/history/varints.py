"""LEB128 integers of a whole column at once: what `formats.codec` does one by one.

A day of one job is 1.7 million windows with some fifty integers each. Python decodes ten million of
them in a second at best, numpy a hundred million.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collectors.formats.codec import Reader

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

# Nine groups of seven bits fit a signed integer; none of our counts and times needs more.
_LONGEST = Reader.MAX_VARINT_BYTES - 1


@dataclass(frozen=True)
class Integers:
    """Rows of integers: the row's `number[row]` first ones are from place `first[row]` on.

    A row that holds anything but whole integers has none."""

    data: Bytes
    last_bytes: Ints
    first: Ints
    number: Ints

    def at(self, rows: Ints, place: int) -> Ints:
        """The integer at a place of each of these rows; 0 where a row is shorter."""
        found = np.zeros(len(rows), np.int64)
        long_enough = self.number[rows] > place
        found[long_enough] = self.values(self.first[rows[long_enough]] + place)
        return found

    def values(self, places: Ints) -> Ints:
        """Decodes these integers, and no other."""
        last = self.last_bytes[places]
        start = np.where(places > 0, self.last_bytes[places - 1] + 1, 0)
        values = (self.data[start] & 0x7F).astype(np.int64)
        length = last - start
        for place in range(1, min(int(length.max(initial=0)) + 1, _LONGEST)):
            longer = np.flatnonzero(length >= place)
            groups = (self.data[start[longer] + place] & 0x7F).astype(np.int64)
            values[longer] |= groups << (7 * place)
        return values


def read(data: Bytes, offsets: Ints) -> Integers:
    """Finds the integers in rows of bytes: row `i` is `data[offsets[i] : offsets[i + 1]]`."""
    whole = np.ones(len(offsets) - 1, bool)
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    ends = offsets[filled + 1] - 1
    cut_off = data[ends] > 0x7F
    if cut_off.any():
        # Ends the row's last integer, so that it does not run on into the next row.
        data = data.copy()
        data[ends[cut_off]] = 0
        whole[filled[cut_off]] = False
    last_bytes = np.flatnonzero(data < 0x80)
    first = np.searchsorted(last_bytes, offsets[:-1])
    number = np.searchsorted(last_bytes, offsets[1:]) - first
    too_long = np.flatnonzero(np.diff(last_bytes, prepend=-1) > _LONGEST)
    whole[np.searchsorted(first, too_long, side="right") - 1] = False
    return Integers(data, last_bytes, first, np.where(whole, number, 0))


def write(values: Ints, number: Ints) -> pa.BinaryArray:
    """Encodes rows of integers, the first `number[0]` of them in the first row and so on."""
    lengths = np.ones(len(values), np.int64)
    for place in range(1, _LONGEST):
        more = values >> (7 * place) > 0
        if not more.any():
            break
        lengths += more
    ends = np.cumsum(lengths)
    data = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    starts = ends - lengths
    for place in range(int(lengths.max(initial=0))):
        among = np.flatnonzero(lengths > place)
        group = (values[among] >> (7 * place)) & 0x7F
        goes_on = lengths[among] > place + 1
        data[starts[among] + place] = group | (goes_on << 7)
    row_ends = np.cumsum(number)
    offsets = np.zeros(len(number) + 1, np.int32)
    filled = row_ends > 0
    offsets[1:][filled] = ends[row_ends[filled] - 1]
    return pa.BinaryArray.from_buffers(
        pa.binary(), len(number), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def bytes_of(column: pa.Array | pa.ChunkedArray) -> tuple[Bytes, Ints]:
    """The bytes of a binary column and where each row begins and ends; null is an empty row."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    array = column.cast(pa.large_binary()).fill_null(b"")
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(data_buffer or b"", np.uint8)
    return data[offsets[0] : offsets[-1]], offsets - offsets[0]

"""Histograms small enough to be sent every second: four buckets per octave, 1 ms to an hour.

Each merges sixteen of `collectors.formats.buckets`, so it shares their bounds and its count is
exact: only resolution is given up. The first holds all up to 1.023 ms, the last all above 54
minutes. The sum is that of the fine buckets' middles, within 0.78 % of the raw values'.

    varint    sum µs
    varint    number of counts that follow, those after the last that is not 0 left out
    varints   counts
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.formats.buckets import BUCKETS, MAX_US, ORDINARY, index_of, middle_us
from collectors.formats.codec import Garbled, Reader, Writer

_BITS = 4
_FIRST = index_of(1023) >> _BITS
COARSE_BUCKETS = (index_of(MAX_US) >> _BITS) - _FIRST + 1

_COARSE = tuple(max(0, (index >> _BITS) - _FIRST) for index in range(BUCKETS))
_MIDDLE_US = tuple(middle_us(index) for index in range(BUCKETS))

# The largest whole µs of each bucket except the last, which is unbounded.
BOUNDS_US = tuple(
    ORDINARY.bounds_us(((_FIRST + coarse + 1) << _BITS) - 1)[1]
    for coarse in range(COARSE_BUCKETS - 1)
)


@dataclass(frozen=True)
class Coarse:
    counts: tuple[int, ...] = (0,) * COARSE_BUCKETS
    sum_us: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts)


class Tally:
    """A histogram whose counts only rise."""

    def __init__(self) -> None:
        self._counts = [0] * COARSE_BUCKETS
        self._sum_us = 0.0

    def add(self, fine: Mapping[int, int]) -> None:
        for index, count in fine.items():
            self._counts[_COARSE[index]] += count
            self._sum_us += _MIDDLE_US[index] * count

    def taken(self) -> Coarse:
        return Coarse(tuple(self._counts), int(self._sum_us))


def write(out: Writer, coarse: Coarse) -> None:
    out.varint(coarse.sum_us)
    used = COARSE_BUCKETS
    while used and not coarse.counts[used - 1]:
        used -= 1
    out.varint(used)
    for count in coarse.counts[:used]:
        out.varint(count)


def read(data: Reader) -> Coarse:
    sum_us, used = data.varint(), data.varint()
    if used > COARSE_BUCKETS:
        raise Garbled(f"{used} coarse buckets of {COARSE_BUCKETS}")
    counts = tuple(data.varint() for _ in range(used))
    return Coarse(counts + (0,) * (COARSE_BUCKETS - used), sum_us)

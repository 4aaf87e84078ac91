"""Latency histograms whose percentiles are within 1 % of those of the raw values.

Log-linear buckets over microseconds (as HdrHistogram does it): merging two histograms is adding
counts, so nothing is lost across executors or windows. Percentiles are read from merged counts;
they are never averaged. Indexing takes integer arithmetic only, so the probe's Scala twin
(`probe/latency/Buckets.scala`) gives the same index for every value.

There are two scales. Frames and percentiles are on `ORDINARY`, 64 buckets per power of two: the
middle of a bucket is within 1/128 = 0.78 % of every value in it, and values below 64 µs are exact.
What has to be moved before it gets there (`collectors.process.committed`) is counted on `FINE`,
four times as fine, so that both roundings together stay within 1.00195 · 1.00781 − 1 = 0.98 %.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from collectors.formats.codec import Garbled, Reader, Writer

MAX_US = 3600 * 1_000_000


@dataclass(frozen=True)
class Scale:
    """2 ** sub_bits buckets per power of two; each stands for its values within half its width."""

    sub_bits: int

    @cached_property
    def buckets(self) -> int:
        return self.index_of(MAX_US) + 1

    def index_of(self, latency_us: int) -> int:
        """Below zero (an event from the future) counts as zero, beyond an hour as an hour."""
        us = max(0, min(MAX_US, latency_us))
        sub_bits = self.sub_bits
        if us < 1 << sub_bits:
            return us
        shift = us.bit_length() - 1 - sub_bits
        return (shift << sub_bits) + (us >> shift)

    def bounds_us(self, index: int) -> tuple[int, int]:
        """The least and the greatest value of a bucket."""
        shift = max(0, (index >> self.sub_bits) - 1)
        lowest = (index - (shift << self.sub_bits)) << shift
        return lowest, lowest + (1 << shift) - 1

    def middle_us(self, index: int) -> float:
        """The value a bucket stands for."""
        return sum(self.bounds_us(index)) / 2


ORDINARY = Scale(sub_bits=6)
FINE = Scale(sub_bits=8)

BUCKETS = ORDINARY.buckets
index_of = ORDINARY.index_of
middle_us = ORDINARY.middle_us


@dataclass(frozen=True)
class Histogram:
    counts: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, latencies_us: Iterable[int]) -> "Histogram":
        counts: dict[int, int] = {}
        for latency_us in latencies_us:
            index = index_of(latency_us)
            counts[index] = counts.get(index, 0) + 1
        return cls(counts)

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    def quantiles_us(self, quantiles: Iterable[float]) -> list[float | None]:
        """Nearest rank: the smallest value that at least this share of all values do not exceed."""
        indexes = sorted(self.counts)
        ranks = list(accumulate(self.counts[index] for index in indexes))
        total = ranks[-1] if ranks else 0
        if not total:
            return [None for _ in quantiles]
        wanted = (max(1, _ceil(quantile, total)) for quantile in quantiles)
        return [middle_us(indexes[bisect_left(ranks, rank)]) for rank in wanted]


def merged(histograms: Iterable[Histogram]) -> Histogram:
    counts: dict[int, int] = {}
    for histogram in histograms:
        for index, count in histogram.counts.items():
            counts[index] = counts.get(index, 0) + count
    return Histogram(counts)


def write(out: Writer, histogram: Histogram) -> None:
    """Number of buckets, then each as the distance from the bucket before and its count."""
    out.varint(len(histogram.counts))
    last = 0
    for index, count in sorted(histogram.counts.items()):
        out.varint(index - last)
        out.varint(count)
        last = index


def read(data: Reader, scale: Scale = ORDINARY) -> Histogram:
    filled = data.varint()
    numbers = data.varints(2 * filled)
    counts = dict(zip(accumulate(numbers[::2]), numbers[1::2], strict=True))
    if len(counts) < filled:
        raise Garbled("a bucket twice")
    if (last := max(counts, default=0)) >= scale.buckets:
        raise Garbled(f"bucket {last} of {scale.buckets}")
    return Histogram(counts)


def _ceil(quantile: float, total: int) -> int:
    # 0.999 * 1000 is 999.0000000000001 in binary: without the slack it would ask for rank 1000.
    return -int(-(quantile * total - 1e-9) // 1)

"""Latency histograms whose percentiles are within 1 % of those of the raw values.

Log-linear buckets over microseconds, 64 per power of two (as HdrHistogram does it): the middle of
a bucket is within 1/128 = 0.78 % of every value in it, values below 64 µs are exact, and merging
two histograms is adding counts, so nothing is lost across executors or windows. Percentiles are
read from merged counts; they are never averaged. Indexing takes integer arithmetic only, so the
probe's Scala twin (`probe/Buckets.scala`) gives the same index for every value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collectors.codec import Garbled, Reader, Writer

SUB_BITS = 6
SUB = 1 << SUB_BITS
MAX_US = 3600 * 1_000_000


def index_of(latency_us: int) -> int:
    """Below zero (an event from the future) counts as zero, beyond an hour as an hour."""
    us = max(0, min(MAX_US, latency_us))
    if us < SUB:
        return us
    shift = us.bit_length() - 1 - SUB_BITS
    return ((shift + 1) << SUB_BITS) + ((us >> shift) & (SUB - 1))


def lowest_us(index: int) -> int:
    """The smallest value of a bucket: all buckets before it hold less."""
    if index < SUB:
        return index
    return (SUB + (index & (SUB - 1))) << _shift(index)


def middle_us(index: int) -> float:
    """The value a bucket stands for."""
    return lowest_us(index) + ((1 << _shift(index)) - 1) / 2


BUCKETS = index_of(MAX_US) + 1


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
        ordered = sorted(self.counts.items())
        total = sum(count for _, count in ordered)
        if not total:
            return [None for _ in quantiles]
        return [middle_us(_at_rank(ordered, max(1, _ceil(q, total)))) for q in quantiles]


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


def read(data: Reader) -> Histogram:
    counts: dict[int, int] = {}
    index = 0
    for _ in range(data.varint()):
        index += data.varint()
        if index >= BUCKETS:
            raise Garbled(f"bucket {index} of {BUCKETS}")
        counts[index] = counts.get(index, 0) + data.varint()
    return Histogram(counts)


def _shift(index: int) -> int:
    return max(0, (index >> SUB_BITS) - 1)


def _ceil(quantile: float, total: int) -> int:
    # 0.999 * 1000 is 999.0000000000001 in binary: without the slack it would ask for rank 1000.
    return -int(-(quantile * total - 1e-9) // 1)


def _at_rank(ordered: list[tuple[int, int]], rank: int) -> int:
    seen = 0
    for index, count in ordered:
        seen += count
        if seen >= rank:
            return index
    return ordered[-1][0]

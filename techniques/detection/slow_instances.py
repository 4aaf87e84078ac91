"""Instances of an operator pool that are much slower than their siblings.

Held against chance: the rank-sum test over the latencies of single chunks, times the number of
siblings, because the slowest of them is the one that is looked at.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.model import Evidence
from techniques.pool.controllers.loads import Siblings, chunks_of, families
from techniques.view import Floats, Instance, Ints, View

SLOWER = 1.5
# The median has to be higher as well: a single call that hangs makes no slow instance.
SLOWER_MEDIAN = 1.2
SIGNIFICANT = 1e-4
# With as many on either side the normal approximation of the test is good enough.
FEWEST_CHUNKS = 20


@dataclass(frozen=True, eq=False)
class Slowest:
    """The slowest of several siblings, by the mean latency of its chunks."""

    siblings: Siblings
    instance: Instance
    mean_ms: float
    others_ms: float
    median_ratio: float
    chunks: int
    p_value: float

    @property
    def ratio(self) -> float:
        return self.mean_ms / self.others_ms if self.others_ms > 0 else 1.0

    @property
    def is_slow(self) -> bool:
        return (
            self.ratio >= SLOWER
            and self.median_ratio >= SLOWER_MEDIAN
            and self.p_value <= SIGNIFICANT
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        means = f"{self.mean_ms:.3g} ms, that of its siblings {self.others_ms:.3g} ms"
        return (
            Evidence(f"mean chunk latency of {self.instance.name}", means),
            Evidence("median against siblings", f"{self.median_ratio:.2f} ×"),
            Evidence("chunks compared", str(self.chunks)),
            Evidence("p-value: equal instances would differ so (rank sum)", f"{self.p_value:.2g}"),
        )


@dataclass(frozen=True, eq=False)
class _Chunks:
    """Latencies, ascending, and how many chunks had each: an hour has millions of chunks."""

    ms: Floats
    count: Ints

    @property
    def total(self) -> int:
        return int(self.count.sum())

    @property
    def mean_ms(self) -> float:
        return float(np.average(self.ms, weights=self.count))

    @property
    def median_ms(self) -> float:
        return float(self.ms[np.searchsorted(np.cumsum(self.count), self.total / 2)])

    @classmethod
    def of(cls, instances: Sequence[Instance], since_ms: float) -> "_Chunks":
        each = [chunks_of(instance, since_ms) for instance in instances]
        ms, at = np.unique(np.concatenate([ms for ms, _ in each]), return_inverse=True)
        count = np.bincount(at, np.concatenate([count for _, count in each]), len(ms))
        return cls(ms, count.astype(np.int64))


def slowest(view: View, since_ms: float) -> list[Slowest]:
    """One of each family with enough chunks, the slowest against its siblings first."""
    found = (_slowest(siblings, since_ms) for siblings in families(view))
    return sorted((each for each in found if each), key=lambda each: -each.ratio)


def _slowest(siblings: Siblings, since_ms: float) -> Slowest | None:
    each = [(one, _Chunks.of([one], since_ms)) for one in siblings.instances]
    known = [(one, chunks) for one, chunks in each if chunks.total >= FEWEST_CHUNKS]
    if len(known) < 2:
        return None
    instance, own = max(known, key=lambda pair: pair[1].mean_ms)
    others = _Chunks.of([one for one, _ in known if one is not instance], since_ms)
    return Slowest(
        siblings=siblings,
        instance=instance,
        mean_ms=own.mean_ms,
        others_ms=others.mean_ms,
        median_ratio=own.median_ms / max(others.median_ms, 1e-9),
        chunks=own.total + others.total,
        p_value=min(1.0, len(known) * _rank_sum(own, others)),
    )


def _rank_sum(own: _Chunks, others: _Chunks) -> float:
    """As `chance.rank_sum`, for latencies that are counted already. Equal ones count against."""
    below = np.concatenate(([0], np.cumsum(others.count)))
    wins = float((own.count * below[np.searchsorted(others.ms, own.ms)]).sum())
    n, m = own.total, others.total
    spread = math.sqrt(n * m * (n + m + 1) / 12)
    # Beyond this a double says 0, and nothing is certain.
    return max(1e-300, math.erfc((wins - n * m / 2) / spread / math.sqrt(2)) / 2)

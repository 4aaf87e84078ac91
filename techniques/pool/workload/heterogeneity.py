"""Artificial heterogeneity, the cause of the latency tails that the papers' techniques cut.

`Heterogeneous` wraps an operator of a pool: it costs what a chunk's rows say, some instances are
slower than others, and one may hang for a while. Costs are slept or burnt: sleeping models a call
to another service and takes no core, burning models computation. `techniques.pool.workload.pauses`
has what makes an instance stand still again and again. `Stamped` says when the work on a chunk
began.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from techniques.pool.plan import INSTANCE_VARIABLE, Operator
from techniques.pool.workload.pauses import Pauses

COST = "cost_us"
BEGAN = "began_ns"


def this_instance() -> int:
    """Returns the number of this process among its operator's instances; 0 outside of a pool."""
    return int(os.environ.get(INSTANCE_VARIABLE, "-0").rpartition("-")[2])


@dataclass
class Heterogeneous:
    operator: Operator
    # The cost of every chunk, besides what its rows say in the column `cost_us`.
    base_us: int = 0
    # Instance of the operator → how many times slower it is.
    slow: Mapping[int, float] = field(default_factory=dict)
    # Instance → its chunk (from 0) before which it hangs, and for how long.
    hangs: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    burn: bool = False
    pauses: Pauses | None = None
    # Instance → every how many seconds it hangs, and for how long.
    hangs_every: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    # Whether a slow instance takes as many times longer for the operator's own work, too.
    slow_operator: bool = False
    _taken: int = 0
    _hang_at_s: float | None = None

    @property
    def __name__(self) -> str:
        return str(getattr(self.operator, "__name__", type(self.operator).__name__))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        own = this_instance()
        if own in self.hangs and self.hangs[own][0] == self._taken:
            time.sleep(self.hangs[own][1])
        self._taken += 1
        if own in self.hangs_every:
            self._hang_if_due(*self.hangs_every[own])
        us = self.base_us
        if COST in batch.schema.names:
            us += pc.sum(batch.column(COST)).as_py() or 0
        times = self.slow.get(own, 1.0)
        work_s = us * times / 1e6
        began_s = time.monotonic()
        spend(work_s, self.burn)
        if self.pauses is not None:
            stood_still_s = self.pauses.end_s(began_s, work_s) - time.monotonic()
            spend(stood_still_s, burn=False)
        called_s = time.perf_counter()
        result = self.operator(batch)
        if self.slow_operator and times > 1:
            spend((time.perf_counter() - called_s) * (times - 1), self.burn)
        return result

    def _hang_if_due(self, every_s: float, hang_s: float) -> None:
        """Hangs before the first chunk that comes `every_s` after the last hang began."""
        now_s = time.monotonic()
        if self._hang_at_s is None:
            self._hang_at_s = now_s + every_s
        if now_s >= self._hang_at_s:
            self._hang_at_s = now_s + every_s
            time.sleep(hang_s)


@dataclass
class Stamped:
    """Adds a column with the time (CLOCK_MONOTONIC) at which the work on the chunk began."""

    operator: Operator

    @property
    def __name__(self) -> str:
        return str(getattr(self.operator, "__name__", type(self.operator).__name__))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        began_ns = time.monotonic_ns()
        made = self.operator(batch)
        return made.append_column(BEGAN, pa.array([began_ns] * made.num_rows, pa.int64()))


def spend(seconds: float, burn: bool) -> None:
    if not burn:
        if seconds > 0:
            time.sleep(seconds)
        return
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        pass


def skewed_us(
    count: int, least_us: float, most_us: float, seed: int = 0, shape: float = 1.0
) -> NDArray[np.int64]:
    """Costs between two bounds with a heavy tail (bounded Pareto): most are cheap, few are not."""
    if not 0 < least_us < most_us or shape <= 0:
        raise ValueError(f"no skew between {least_us} and {most_us} with shape {shape}")
    uniform = np.random.default_rng(seed).uniform(size=count)
    ratio = (least_us / most_us) ** shape
    drawn = least_us / (1 - uniform * (1 - ratio)) ** (1 / shape)
    costs: NDArray[np.int64] = np.clip(drawn, least_us, most_us).astype(np.int64)
    return costs

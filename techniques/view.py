"""A job as detectors and controllers see it: arrays of 50 ms windows, and what ran in them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Something with a start and an end: a flush, a compaction, a GC pause, a batch …"""

    kind: str
    start_ms: float
    end_ms: float
    executor: str
    operator: int | None = None
    partition: int | None = None


@dataclass(frozen=True)
class View:
    """Arrays are as long as `t_ms` (window starts, ascending); NaN is *not known*, never zero."""

    now_ms: int
    t_ms: NDArray[np.int64]
    records: Floats
    p50_ms: Floats
    p99_ms: Floats
    p999_ms: Floats
    backlog_rows: Floats
    host_cpu: Mapping[str, Floats]
    flushes: Mapping[int, Floats]
    compactions: Mapping[int, Floats]
    intervals: tuple[Interval, ...] = ()

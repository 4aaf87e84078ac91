"""Blocks of latencies as a benchmark would have measured them, for tests without a pool."""

from typing import Any

import numpy as np

from benchmarks.pool_arms import Block, Floats, Sample

SETTLE_S = 1.0


def sample(at_s: float, **known: Any) -> Sample:
    return Sample(at_s, 0, 0, 0, 0, 0, 0, 0, ())._replace(**known)


def block(
    latency_ms: list[float] | Floats,
    samples: tuple[Sample, ...] = (),
    waited_ms: list[float] | None = None,
    late_ms: float = 0.1,
) -> Block:
    latencies = np.asarray(latency_ms, float)
    return Block(
        latencies,
        np.full(len(latencies), late_ms),
        None if waited_ms is None else np.asarray(waited_ms, float),
        SETTLE_S,
        samples or (sample(0.0), sample(SETTLE_S), sample(2 * SETTLE_S)),
    )

"""When chunks are meant to be sent. Open loop: the times do not depend on how the pool gets on.

A generator that waits for an answer before it sends the next request does not send just when the
system is slow, so it never sees the worst (coordinated omission). Here every chunk has an intended
time, and its latency is counted from that, however late it could be sent.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def poisson(rate_per_s: float, seconds: float, seed: int = 0) -> Times:
    """Independent arrivals at an average rate, as ascending seconds from the start."""
    if rate_per_s <= 0 or seconds <= 0:
        raise ValueError(f"no arrivals at {rate_per_s} a second for {seconds} s")
    numbers = np.random.default_rng(seed)
    count = numbers.poisson(rate_per_s * seconds)
    return np.sort(numbers.uniform(0, seconds, count))


def trace(times_s: Sequence[float]) -> Times:
    """Recorded arrival times, shifted so that the first one is 0."""
    times = np.asarray(times_s, dtype=np.float64)
    if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all():
        raise ValueError("a trace is a list of times in seconds")
    if (np.diff(times) < 0).any():
        raise ValueError("the times of a trace must not go backwards")
    shifted: Times = times - times[0]
    return shifted


def read_trace(path: Path) -> Times:
    """One time in seconds per line."""
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    try:
        return trace([float(line) for line in lines])
    except ValueError as fault:
        raise ValueError(f"{path}: {fault}") from fault

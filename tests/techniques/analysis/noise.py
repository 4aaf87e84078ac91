"""Series with a known truth: noise with a memory, a daily rhythm, a planted step."""

import numpy as np

from techniques.intervals import Floats

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


def remembering(random: np.random.Generator, size: int, memory: float, spread: float) -> Floats:
    """Noise in which each value keeps `memory` of the one before (AR(1))."""
    values: Floats = random.normal(size=size) * spread * np.sqrt(1 - memory**2)
    values[0] = random.normal() * spread
    for at in range(1, size):
        values[at] += memory * values[at - 1]
    return values


def hourly(
    seed: int,
    days: int = 7,
    memory: float = 0.5,
    spread: float = 0.1,
    rhythm: float = 0.7,
    jump: float = 1.0,
    jump_at: int | None = None,
) -> Floats:
    """p99 by the hour; from hour `jump_at` on it is `jump` times as high."""
    random = np.random.default_rng(seed)
    size = days * 24
    by_day = rhythm * np.sin(2 * np.pi * np.arange(size) / 24 + random.uniform(0, 2 * np.pi))
    values = 100 * np.exp(remembering(random, size, memory, spread) + by_day)
    values[size // 2 if jump_at is None else jump_at :] *= jump
    return values

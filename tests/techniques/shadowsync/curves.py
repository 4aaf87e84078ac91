"""Views with known curves of p99 over live compactions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from techniques.view import WINDOW_MS, Interval, View

START_MS = 1_700_000_000_000


def compacting(start_ms: float, level: int, executor: str = "1") -> list[Interval]:
    """So many at once for one window."""
    interval = Interval("compaction", start_ms, start_ms + WINDOW_MS, executor)
    return [replace(interval, partition=number) for number in range(level)]


def curved(windows: Sequence[tuple[int, float]], start_ms: int = START_MS) -> View:
    """One 50 ms window for each (compactions at once, p99 in ms)."""
    size = len(windows)
    p99 = np.array([ms for _, ms in windows], dtype=np.float64)
    zero = np.zeros(size)
    compactions = [
        each
        for at, (level, _) in enumerate(windows)
        for each in compacting(start_ms + at * WINDOW_MS, level)
    ]
    return View(
        start_ms=start_ms,
        records=np.full(size, 100.0),
        p50_ms=p99 / 2,
        p99_ms=p99,
        p999_ms=p99 * 1.3,
        backlog_rows=zero,
        waiting_tasks=zero,
        intervals={"compaction": compactions},
    )


def lasting(ms: int, levels: dict[int, float], end_ms: int) -> View:
    """That long until `end_ms`, the levels in turn."""
    turns = list(levels.items())
    windows = [turns[at % len(turns)] for at in range(ms // WINDOW_MS)]
    return curved(windows, end_ms - ms)

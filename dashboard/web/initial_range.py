"""The range that a job's page shows first: the server knows it, so the page can preload it."""

from collections.abc import Mapping
from dataclasses import dataclass

# The same values as in the page (frontend/static/curtail/js/chart/view.js, ring.js).
SPANS_MS = (60_000, 300_000, 900_000)
SPAN_MS = 300_000
KEPT_MS = 900_000
# A little more than is visible, so that lines do not begin inside the chart.
MORE_MS = 2_000


@dataclass(frozen=True)
class InitialRange:
    start_ms: int
    end_ms: int
    now_ms: int


def initial_range(query: Mapping[str, str], last_seen_ms: int, now_ms: int) -> InitialRange:
    """The range in view; for a silent job it ends with its last windows."""
    asked = query.get("span", "")
    span_ms = int(asked) if asked in map(str, SPANS_MS) else SPAN_MS
    silent = last_seen_ms < now_ms - span_ms // 2
    end_ms = last_seen_ms + 1000 if silent else now_ms
    return InitialRange(end_ms - min(span_ms + MORE_MS, KEPT_MS), end_ms, now_ms)

"""The windows that a job's page opens with: known to the server, so they are sent for at once."""

from collections.abc import Mapping
from dataclasses import dataclass

# As the page's own (frontend/static/curtail/js/chart/view.js, ring.js).
SPANS_MS = (60_000, 300_000, 900_000)
SPAN_MS = 300_000
KEPT_MS = 900_000
# Lines run out of the picture on the left.
MORE_MS = 2_000


@dataclass(frozen=True)
class InitialRange:
    start_ms: int
    end_ms: int
    now_ms: int


def initial_range(query: Mapping[str, str], last_seen_ms: int, now_ms: int) -> InitialRange:
    """What will be in view: of a job that has fallen silent, its last windows and as much again."""
    asked = query.get("span", "")
    span_ms = int(asked) if asked in map(str, SPANS_MS) else SPAN_MS
    silent = last_seen_ms < now_ms - span_ms // 2
    end_ms = last_seen_ms + 1000 if silent else now_ms
    return InitialRange(end_ms - min(span_ms + MORE_MS, KEPT_MS), end_ms, now_ms)

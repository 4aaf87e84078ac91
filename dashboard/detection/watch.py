"""The detection state of one job: its open incidents, and when its rules ran last."""

from collections.abc import Callable, Sequence
from statistics import median

import numpy as np

from techniques.detection import find_all
from techniques.detection.explained import unexplained
from techniques.detection.finding import Finding
from techniques.detection.incidents import Changes, Incident, merged
from techniques.view import WINDOW_MS, View

# The rules run every 5 s on a quiet job, for findings without a latency spike, and every 2 s once
# its p99 rises. A new job has no baseline yet to tell quiet from raised: every second.
QUIET_EVERY_MS = 5_000
RAISED_EVERY_MS = 2_000
YOUNG_MS, YOUNG_EVERY_MS = 60_000, 1_000
RAISED = 1.1
RECENT_S = 3
PER_SECOND = 1_000 // WINDOW_MS
# With less data than this, rules have nothing to compare with.
LEAST_MS = 15_000


class Watch:
    def __init__(
        self,
        known: Sequence[Incident] = (),
        find: Callable[[View], list[Finding]] = find_all,
    ) -> None:
        self._known = {incident.key: incident for incident in known}
        self._find = find
        self._looked_ms = 0

    def look(self, view: View, has_time: bool = True) -> Changes:
        """Runs the rules if they are due and returns what changed. Time is that of the windows: a
        job that sends nothing has no data, which is neither health nor the end of an incident.
        `has_time`: whether a new job may be examined every second."""
        now_ms = view.end_ms
        if len(view) * WINDOW_MS < LEAST_MS or not self._is_due(view, now_ms, has_time):
            return Changes()
        self._looked_ms = now_ms
        known = tuple(self._known.values())
        findings = unexplained(self._find(view), (incident.latest for incident in known))
        changes = merged(known, findings, now_ms)
        for incident in (*changes.opened, *changes.continued):
            self._known[incident.key] = incident
        for incident in changes.ended:
            self._known.pop(incident.key, None)
        return changes

    def _is_due(self, view: View, now_ms: int, has_time: bool) -> bool:
        since_ms = now_ms - self._looked_ms
        if since_ms >= QUIET_EVERY_MS:
            return True
        if has_time and len(view) * WINDOW_MS < YOUNG_MS:
            return since_ms >= YOUNG_EVERY_MS
        return since_ms >= RAISED_EVERY_MS and _is_raised(view)


def _is_raised(view: View) -> bool:
    """Whether the highest p99 of the last 3 s is 10 % or more above the median second's."""
    seconds = len(view) // PER_SECOND
    of_seconds = view.p99_ms[-seconds * PER_SECOND :].reshape(seconds, PER_SECOND)
    # A second with no known value has the peak NaN.
    peaks = np.fmax.reduce(of_seconds, axis=1).tolist()
    seen = [peak for peak in peaks if peak > 0]
    recent = [peak for peak in peaks[-RECENT_S:] if peak > 0]
    return bool(recent) and max(recent) >= RAISED * median(seen)

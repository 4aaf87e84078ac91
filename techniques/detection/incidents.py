"""Merges findings over time into incidents. Time is an argument, state is a value.

Detectors look back over minutes, so they find the same problem again at every run: it is one
incident, and only spans that begin after the last known one are new occurrences. An incident ends
when the problem has not come back for longer than its period allows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from techniques.detection.finding import Finding

# An incident ends after this time without an occurrence, or after so many periods if that is more.
QUIET_MS = 30_000
QUIET_PERIODS = 2.5
# The start of an occurrence may shift by this much as more of it is seen.
SAME_MS = 500


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


# Thresholds of severity: the latency added at the peaks.
WARNING_MS, CRITICAL_MS = 100.0, 1_000.0


@dataclass(frozen=True)
class Incident:
    """`latest` is its most recent finding, with the evidence."""

    latest: Finding
    onset_ms: int
    last_start_ms: int
    end_ms: int
    occurrences: int
    worst_added_ms: float

    @property
    def key(self) -> tuple[object, ...]:
        return key(self.latest)

    @property
    def severity(self) -> Severity:
        if self.worst_added_ms >= CRITICAL_MS:
            return Severity.CRITICAL
        return Severity.WARNING if self.worst_added_ms >= WARNING_MS else Severity.INFO

    def is_over(self, now_ms: int) -> bool:
        period_ms = self.latest.period_ms or 0.0
        return now_ms - self.end_ms > max(QUIET_MS, QUIET_PERIODS * period_ms)


@dataclass(frozen=True)
class Changes:
    opened: tuple[Incident, ...] = ()
    continued: tuple[Incident, ...] = ()
    ended: tuple[Incident, ...] = ()


def key(finding: Finding) -> tuple[object, ...]:
    """Findings with the same key belong to the same incident."""
    return finding.kind, finding.operators, finding.executors


def merged(known: Sequence[Incident], findings: Iterable[Finding], now_ms: int) -> Changes:
    """Returns what the findings change about the open incidents `known`. A new finding whose last
    occurrence was too long ago opens none."""
    by_key = {incident.key: incident for incident in known}
    opened: dict[tuple[object, ...], Incident] = {}
    continued: dict[tuple[object, ...], Incident] = {}
    for finding in findings:
        place = key(finding)
        before = opened.get(place) or continued.get(place) or by_key.get(place)
        if before is None:
            fresh = _opened(finding)
            if not fresh.is_over(now_ms):
                opened[place] = fresh
        elif after := _continued(before, finding):
            (opened if place in opened else continued)[place] = after
    still = {**by_key, **continued}
    ended = tuple(incident for incident in still.values() if incident.is_over(now_ms))
    over = {incident.key for incident in ended}
    return Changes(
        opened=tuple(opened.values()),
        continued=tuple(each for place, each in continued.items() if place not in over),
        ended=ended,
    )


def _opened(finding: Finding) -> Incident:
    return Incident(
        latest=finding,
        onset_ms=finding.onset_ms,
        last_start_ms=finding.spans_ms[-1][0],
        end_ms=finding.end_ms,
        occurrences=len(finding.spans_ms),
        worst_added_ms=finding.added_ms,
    )


def _continued(before: Incident, finding: Finding) -> Incident | None:
    new = [span for span in finding.spans_ms if span[0] > before.last_start_ms + SAME_MS]
    end_ms = max(before.end_ms, finding.end_ms)
    if not new and end_ms == before.end_ms:
        return None
    return replace(
        before,
        latest=finding,
        last_start_ms=max(before.last_start_ms, finding.spans_ms[-1][0]),
        end_ms=end_ms,
        occurrences=before.occurrences + len(new),
        worst_added_ms=max(before.worst_added_ms, finding.added_ms),
    )

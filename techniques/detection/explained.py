"""Drops findings that another finding explains.

A periodic slow batch is the first symptom of ShadowSync. If the ShadowSync is found as well, only
that is reported: two incidents for one cause would be acted on twice.
"""

from collections.abc import Iterable, Sequence

from techniques.detection.finding import Finding
from techniques.detection.rules import (
    periodic_slow_batch,
    scheduled_shadowsync,
    statistical_shadowsync,
)

CAUSES = {scheduled_shadowsync.KIND, statistical_shadowsync.KIND}
# How far the two periods may differ: they are medians over a few occurrences.
AGREE = 0.25


def unexplained(findings: Sequence[Finding], known: Iterable[Finding] = ()) -> list[Finding]:
    """The findings that no other one explains; `known` are findings of open incidents."""
    causes = [each for each in (*findings, *known) if each.kind in CAUSES]
    return [each for each in findings if not any(_explains(cause, each) for cause in causes)]


def _explains(cause: Finding, finding: Finding) -> bool:
    if finding.kind != periodic_slow_batch.KIND or not (cause.period_ms and finding.period_ms):
        return False
    return abs(finding.period_ms / cause.period_ms - 1) <= AGREE

"""Statistical ShadowSync: stages that compact on counters of their own happen to be in phase, so
their compactions overlap (ShadowSync, section 3.3). It recurs at the least common multiple of
their periods.

Held against chance twice: that two counters of their periods agree, and that latency is as high
after checkpoints at which they do not meet (`aftermath`).
"""

from itertools import combinations
from math import gcd, lcm

import numpy as np

from techniques.detection import changelogs
from techniques.detection.aftermath import Aftermath, aftermath
from techniques.detection.checkpoints import Stage, stages, table
from techniques.detection.finding import Finding
from techniques.model import Evidence
from techniques.view import Reads, View

KIND = "statistical_shadowsync"
TECHNIQUE: str | None = "shadowsync"
READS = frozenset((Reads.SERIES, Reads.INTERVALS))
FEWEST = 2
ROWS = 6


def find(view: View) -> list[Finding]:
    known = [stage for stage in stages(view) if len(stage.in_phase) >= FEWEST]
    found = []
    for one, other in combinations(known, 2):
        meeting = one.meets(other)
        if meeting.sum() < FEWEST or not (one.weighs(other) and other.weighs(one)):
            continue
        if after := aftermath(view, one, np.array(one.in_phase)[meeting].tolist()):
            found.append(_finding(view, one, other, after))
    return found


def _finding(view: View, one: Stage, other: Stage, after: Aftermath) -> Finding:
    period_ms = _recurs_ms(one, other)
    again = "" if period_ms is None else f" The overlap is expected every {period_ms / 1000:.0f} s."
    meetings = one.meetings_ms(other).tolist()
    return Finding(
        kind=KIND,
        title=f"Stages {one.operator} and {other.operator} compact at the same time",
        spans_ms=tuple((round(start), round(end)) for start, end in meetings),
        p_value=after.p_value,
        added_ms=after.added_ms,
        explanation=(
            f"The compactions of stages {one.operator} and {other.operator} overlapped "
            f"{len(meetings)} times, and p99 is {after.ratio:.2f} times that of other "
            f"checkpoints: it rises {after.words}. Each stage counts its own flushes, and these "
            f"counts are in phase now.{again}"
        ),
        evidence=(
            Evidence("overlaps of compactions", str(len(meetings))),
            Evidence("periods in checkpoints", f"{one.period or '?'} and {other.period or '?'}"),
            *_agreement(one, other),
            *after.evidence,
        ),
        operators=(one.operator, other.operator),
        period_ms=period_ms,
        technique=TECHNIQUE,
        first=changelogs.advice(view, (one.operator, other.operator)),
        table=tuple(table(one, ROWS) + table(other, ROWS)),
    )


def _agreement(one: Stage, other: Stage) -> tuple[Evidence, ...]:
    """The probability by chance: counters whose periods share a factor meet only in some phases."""
    if one.period is None or other.period is None:
        return ()
    by_chance = 1 / gcd(one.period, other.period)
    return (
        Evidence("probability that independent counters of these periods meet", f"{by_chance:.2g}"),
    )


def _recurs_ms(one: Stage, other: Stage) -> float | None:
    if one.period is None or other.period is None:
        return None
    return one.lasts_ms(lcm(one.period, other.period))

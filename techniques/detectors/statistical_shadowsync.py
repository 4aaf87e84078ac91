"""Statistical ShadowSync: stages that compact on counters of their own happen to be in phase, so
their compactions overlap (ShadowSync, section 3.3). It recurs at the least common multiple of
their periods.

Held against chance twice: that they overlap as much when one of them is shifted in time, and that
latency is as high after checkpoints at which they do not overlap (`aftermath`).
"""

from itertools import combinations
from math import lcm

import numpy as np

from techniques.detectors import chance
from techniques.detectors.aftermath import Aftermath, aftermath
from techniques.detectors.checkpoints import Stage, stages, table
from techniques.detectors.finding import Finding
from techniques.model import Evidence
from techniques.view import Floats, View

KIND = "statistical_shadowsync"
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
    again = "" if period_ms is None else f" It is expected every {period_ms / 1000:.0f} s."
    spans_ms = one.bursts_ms[one.meets(other)].tolist()
    by_chance = chance.shifted(_bursting(view, one), _bursting(view, other))
    return Finding(
        kind=KIND,
        title=f"Stages {one.operator} and {other.operator} compact at the same time",
        spans_ms=tuple((round(start), round(end)) for start, end in spans_ms),
        p_value=after.p_value,
        added_ms=after.added_ms,
        explanation=(
            f"The compactions of stages {one.operator} and {other.operator} met {len(spans_ms)} "
            f"times here, and the p99 {after.words} is {after.ratio:.2f} times that of the other "
            f"checkpoints. Each counts its flushes on its own; now they are in phase.{again}"
        ),
        evidence=(
            Evidence("overlaps", str(len(spans_ms))),
            Evidence("periods in checkpoints", f"{one.period or '?'} and {other.period or '?'}"),
            Evidence("that they overlap as much at other shifts", f"{by_chance:.2g}"),
            *after.evidence,
        ),
        operators=(one.operator, other.operator),
        period_ms=period_ms,
        technique="shadowsync",
        table=tuple(table(one, ROWS) + table(other, ROWS)),
    )


def _bursting(view: View, stage: Stage) -> Floats:
    """1 in windows in which the stage compacts, all or most of it."""
    found = np.zeros(len(view))
    for first, after in view.between(stage.bursts_ms[:, 0], stage.bursts_ms[:, 1]):
        found[first:after] = 1.0
    return found


def _recurs_ms(one: Stage, other: Stage) -> float | None:
    if one.period is None or other.period is None or one.step_ms is None:
        return None
    return lcm(one.period, other.period) * one.step_ms

"""Statistical ShadowSync: stages that compact on counters of their own happen to be in phase, so
their compactions overlap (ShadowSync, section 3.3). It recurs at the least common multiple of
their periods.

Held against chance: that latency is as high after checkpoints at which they do not overlap.
"""

from itertools import combinations
from math import lcm

import numpy as np

from techniques.detectors import chance, latency
from techniques.detectors.checkpoints import Stage, spans, stages, table
from techniques.detectors.finding import Finding
from techniques.model import Evidence
from techniques.view import Floats, View

KIND = "statistical_shadowsync"
FEWEST = 2
SIGNIFICANT = 0.01
RAISED = 1.3
ROWS = 6
JOIN_WINDOWS = 4


def find(view: View) -> list[Finding]:
    known = [stage for stage in stages(view) if len(stage.compactions)]
    if len(known) < 2:
        return []
    busy = {stage.operator: _busy(view, stage) for stage in known}
    found = []
    for one, other in combinations(known, 2):
        both = np.minimum(busy[one.operator], busy[other.operator])
        overlaps = chance.spans(both, JOIN_WINDOWS)
        if len(overlaps) < FEWEST:
            continue
        following = spans(view, one)
        rise = latency.against(
            view,
            [(first, after) for first, after in following if both[first:after].any()],
            [(first, after) for first, after in following if not both[first:after].any()],
        )
        if rise and rise.ratio >= RAISED and rise.p_value <= SIGNIFICANT:
            by_chance = chance.shifted(busy[one.operator] > 0, busy[other.operator])
            found.append(_finding(view, one, other, overlaps, rise, by_chance))
    return found


def _finding(
    view: View,
    one: Stage,
    other: Stage,
    overlaps: list[tuple[int, int]],
    rise: latency.Rise,
    by_chance: float,
) -> Finding:
    period_ms = _recurs_ms(one, other)
    again = "" if period_ms is None else f" It is expected every {period_ms / 1000:.0f} s."
    return Finding(
        kind=KIND,
        title=f"Stages {one.operator} and {other.operator} compact at the same time",
        spans_ms=tuple((view.at_ms(first), view.at_ms(after)) for first, after in overlaps),
        p_value=rise.p_value,
        added_ms=rise.added_ms,
        explanation=(
            f"The compactions of stages {one.operator} and {other.operator} overlapped "
            f"{len(overlaps)} times here, and the p99 that follows is {rise.ratio:.1f} "
            f"times that of other checkpoints. Each counts its flushes on its own; now they are "
            f"in phase.{again}"
        ),
        evidence=(
            Evidence("overlaps", str(len(overlaps))),
            Evidence("periods in checkpoints", f"{one.period or '?'} and {other.period or '?'}"),
            Evidence("that they overlap as much at other shifts", f"{by_chance:.2g}"),
            Evidence(
                "p99 at its peaks", f"{rise.ratio:.1f} × the usual, {rise.added_ms:.0f} ms more"
            ),
            Evidence("that latency is as high at other times", f"{rise.p_value:.2g}"),
        ),
        operators=(one.operator, other.operator),
        period_ms=period_ms,
        technique="shadowsync",
        table=tuple(table(one, ROWS) + table(other, ROWS)),
    )


def _busy(view: View, stage: Stage) -> Floats:
    """Windows in which at least half of its instances compact: a stage, not a straggler of it."""
    running = view.running(stage.compactions)
    return np.where(running >= max(1, stage.instances / 2), running, 0.0)


def _recurs_ms(one: Stage, other: Stage) -> float | None:
    if one.period is None or other.period is None or one.step_ms is None:
        return None
    return lcm(one.period, other.period) * one.step_ms

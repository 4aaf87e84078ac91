"""GC shadow: garbage collection pauses overlap flushes of state stores, or each other on several
executors, and latency rises with them. A single pause alone is no shadow.

Held against chance twice: that so many pauses at random times would overlap (binomial test, with
the share of the time at which a pause of that length would), and that latency is as high at other
times.
"""

import numpy as np

from techniques.detection import chance, latency
from techniques.detection.finding import Finding
from techniques.model import Evidence
from techniques.view import Floats, Intervals, Reads, View

KIND = "gc_shadow"
TECHNIQUE: str | None = None
READS = frozenset((Reads.SERIES, Reads.INTERVALS))
FEWEST = 3
SIGNIFICANT = 0.01
RAISED = 1.5


def find(view: View) -> list[Finding]:
    pauses = view.of("gc")
    if len(pauses) < FEWEST:
        return []
    found = [_with(view, pauses, view.running(view.of("flush")), "flushes")]
    executors = sorted(set(pauses.executor.tolist()))
    for executor in executors[1:]:
        own = pauses[pauses.executor == executor]
        others = pauses[pauses.executor < executor]
        found.append(_with(view, own, view.running(others), f"each other on executor {executor}"))
    return [finding for finding in found if finding]


def _with(view: View, pauses: Intervals, other: Floats, whom: str) -> Finding | None:
    spans = view.windows(pauses)
    hits = [(first, after) for first, after in spans if other[first:after].any()]
    if len(hits) < FEWEST:
        return None
    length = max(1, round(float(np.mean([after - first for first, after in spans]))))
    share = float((np.convolve(other > 0, np.ones(length))[: len(view)] > 0).mean())
    by_chance = chance.at_least(len(hits), len(spans), share)
    rise = latency.rise(view, hits)
    if not rise or rise.ratio < RAISED or max(rise.p_value, by_chance) > SIGNIFICANT:
        return None
    return Finding(
        kind=KIND,
        title=f"Garbage collection pauses overlap {whom}",
        spans_ms=tuple((view.at_ms(first), view.at_ms(after)) for first, after in hits),
        p_value=max(rise.p_value, by_chance),
        added_ms=rise.added_ms,
        explanation=(
            f"{len(hits)} of {len(spans)} pauses overlap {whom}, where {share:.0%} would by "
            f"chance, and the p99 that follows is {rise.ratio:.1f} times that of other times."
        ),
        evidence=(
            Evidence("pauses that overlap", f"{len(hits)} of {len(spans)}"),
            Evidence(
                "p-value: pauses at random times would overlap so often (binomial)",
                f"{by_chance:.2g}",
            ),
            *rise.evidence,
        ),
    )

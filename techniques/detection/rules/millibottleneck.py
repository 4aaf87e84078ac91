"""Millibottleneck: a resource is saturated for 50 ms to 2 s while its average over the minute is
moderate; work queues meanwhile, and a latency spike follows.

Held against chance: that latency is as high at other times as it is after the saturations.
"""

from collections.abc import Mapping

import numpy as np

from techniques.detection import chance, latency
from techniques.detection.finding import Finding
from techniques.model import Evidence
from techniques.view import WINDOW_MS, Floats, Reads, Resource, ResourceKind, View

KIND = "millibottleneck"
TECHNIQUE: str | None = None
READS = frozenset((Reads.SERIES, Reads.RESOURCES))
SATURATED = 0.97
MODERATE = 0.75
LONGEST_WINDOWS = 2_000 // WINDOW_MS
SIGNIFICANT = 0.01
RAISED = 2.0
# A smaller rise of latency is no incident.
LEAST_ADDED_MS = 50


def find(view: View) -> list[Finding]:
    found: dict[Resource, Finding] = {}
    for resource, use in view.use.items():
        full = use >= SATURATED
        if not full.any() or float(np.nanmean(use)) > MODERATE:
            continue
        spans = [
            (first, after)
            for first, after in chance.spans(full, join=1)
            if after - first <= LONGEST_WINDOWS
        ]
        rise = latency.rise(view, spans)
        if (
            rise
            and rise.ratio >= RAISED
            and rise.added_ms >= LEAST_ADDED_MS
            and rise.p_value <= SIGNIFICANT
        ):
            found[resource] = _finding(view, resource, use, spans, rise)
    return [each for resource, each in found.items() if not _is_told(resource, found)]


def _is_told(resource: Resource, found: Mapping[Resource, Finding]) -> bool:
    """A full run queue where the CPU is saturated is the same problem: it is reported once."""
    is_queue = resource.kind == ResourceKind.RUN_QUEUE
    return is_queue and Resource(ResourceKind.CPU, resource.where) in found


def _finding(
    view: View, resource: Resource, use: Floats, spans: list[tuple[int, int]], rise: latency.Rise
) -> Finding:
    lengths_ms = [(after - first) * WINDOW_MS for first, after in spans]
    grew = [growth for growth in (_growth(view, first, after) for first, after in spans) if growth]
    what = f"{resource.kind} of {resource.where}"
    return Finding(
        kind=KIND,
        title=f"{what} saturated for {max(lengths_ms)} ms at a time",
        spans_ms=tuple((view.at_ms(first), view.at_ms(after)) for first, after in spans),
        p_value=rise.p_value,
        added_ms=rise.added_ms,
        explanation=(
            f"{what} was saturated {len(spans)} times, for {min(lengths_ms)} to "
            f"{max(lengths_ms)} ms, while its average was {np.nanmean(use):.0%}. The p99 peaked "
            f"{rise.lag_ms:.0f} ms after the onset at {rise.ratio:.1f} times the usual."
        ),
        evidence=(
            Evidence("saturations", str(len(spans))),
            Evidence("average over the view", f"{np.nanmean(use):.0%}"),
            Evidence("saturations during which a queue grew", f"{len(grew)} of {len(spans)}"),
            Evidence("onset to the spike's peak", f"{rise.lag_ms:.0f} ms"),
            Evidence(
                "p99 at its peaks", f"{rise.ratio:.1f} × the usual, {rise.added_ms:.0f} ms more"
            ),
            Evidence("p-value: p99 as high at other times (Student's t)", f"{rise.p_value:.2g}"),
        ),
        executors=(resource.where,),
    )


def _growth(view: View, first: int, after: int) -> float:
    """How far a queue grew during the saturation: rows at the source, or waiting tasks."""
    grown = 0.0
    for queue in (view.backlog_rows, view.waiting_tasks):
        inside = queue[max(0, first - 1) : after + 1]
        inside = inside[~np.isnan(inside)]
        if len(inside) >= 2:
            grown = max(grown, float(inside.max() - inside[0]))
    return grown

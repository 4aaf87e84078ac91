"""Backlog imbalance: one of several sibling queues holds far more than its share, and for long.
Siblings are the queues in front of an operator's instances, or their outgoing ones.

Held against chance: with evenly shared work each of n queues would be the longest in one of n
samples (binomial test). Samples a second apart count as independent.
"""

from collections.abc import Mapping

import numpy as np

from techniques.detection import chance
from techniques.detection.finding import Finding
from techniques.model import Evidence
from techniques.pool.controllers.loads import families
from techniques.view import WINDOW_MS, Floats, Reads, View

KIND = "backlog_imbalance"
# A queue is long where its instance is slow. Results that wait to be sent on are another matter.
TECHNIQUE: str | None = "latency_balancing"
OUTGOING = "largest_backlog"
READS = frozenset((Reads.POOLS,))
EVERY = 1_000 // WINDOW_MS
FEWEST = 10
UNEVEN = 2.0
SIGNIFICANT = 1e-4


def find(view: View) -> list[Finding]:
    found = [
        *(_within(view, family, queues, TECHNIQUE) for family, queues in _incoming(view).items()),
        *(_within(view, family, queues, OUTGOING) for family, queues in _outgoing(view).items()),
    ]
    return [each for each in found if each]


def _incoming(view: View) -> dict[str, dict[str, Floats]]:
    """Queues are siblings if their names agree up to the last slash: `operator/instance`."""
    named: dict[str, dict[str, Floats]] = {}
    for name in sorted(view.queues):
        named.setdefault(name.rpartition("/")[0], {})[name] = view.queues[name]
    return named


def _outgoing(view: View) -> dict[str, dict[str, Floats]]:
    return {
        f"{each.pool.name}@{each.pool.host}/{each.operator}, outgoing": {
            f"The outgoing queue of {one.name}": one.parked for one in each.instances
        }
        for each in families(view)
    }


def _within(
    view: View, family: str, queues: Mapping[str, Floats], technique: str | None
) -> Finding | None:
    if len(queues) < 2:
        return None
    names = list(queues)
    lengths = np.array([np.nan_to_num(queues[name])[::EVERY] for name in names])
    busy = lengths.sum(axis=0) > 0
    looks = int(busy.sum())
    if looks < FEWEST:
        return None
    longest = np.bincount(lengths[:, busy].argmax(axis=0), minlength=len(names))
    worst = int(longest.argmax())
    share = float(lengths[worst, busy].mean() / lengths[:, busy].mean())
    p_value = min(1.0, len(names) * chance.at_least(int(longest[worst]), looks, 1 / len(names)))
    if share < UNEVEN or p_value > SIGNIFICANT:
        return None
    return Finding(
        kind=KIND,
        title=f"{names[worst]} holds {share:.1f} times the average backlog of its siblings",
        spans_ms=((view.start_ms, view.end_ms),),
        p_value=p_value,
        added_ms=0.0,
        explanation=(
            f"Of {len(names)} queues of {family}, {names[worst]} was the longest in "
            f"{longest[worst]} of {looks} samples, with {share:.1f} times the average backlog. "
            f"Records that wait there make up the tail of the latency."
        ),
        evidence=(
            Evidence("longest queue of all", f"{longest[worst]} of {looks} samples"),
            Evidence("backlog against the average queue", f"{share:.1f} ×"),
            Evidence("p-value: equal queues would look like this", f"{p_value:.2g}"),
        ),
        technique=technique,
    )

"""Whether to balance, by Table 4 of Du & Gupta: some instances are much slower than others.

The weights are moved by each dispatcher itself, every period and without asking the others.
"""

import numpy as np

from techniques.detection.slow_instances import SLOWER, Slowest, slowest
from techniques.latency_balancing.technique import BY
from techniques.model import Conditions, Decision, Evidence, Options, Past
from techniques.pool.controllers.advisor import Condition, better
from techniques.pool.controllers.loads import families, loads, since_ms, unknown
from techniques.pool.controllers.steering import decided
from techniques.pool.policies import number_of
from techniques.schema import Settings
from techniques.view import Reads, View

READS = frozenset((Reads.POOLS,))
WEIGHTED = number_of(BY[0])
NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    if nothing := unknown(view):
        return nothing
    if all(load.instances < 2 for load in loads(view)):
        return Conditions(False, "each operator has one instance: there is nothing to balance")
    if (found := _slowest(view)) is None:
        return Conditions(None, "fewer than two instances of an operator had chunks to compare")
    than = (
        f"chunks at {found.instance.name} of {found.siblings.where} take {found.mean_ms:.3g} ms on "
        f"average, {found.ratio:.1f} × those at its siblings ({found.others_ms:.3g} ms)"
    )
    if found.is_slow:
        return Conditions(True, than, better("latency_balancing", Condition.UNEVEN))
    if weights := _weights(view):
        low, high = weights
        why = f"weights of {low:.1f} % to {high:.1f} % keep the latencies even: {than}"
        return Conditions(True, why, better("latency_balancing", Condition.UNEVEN))
    if found.ratio < SLOWER:
        why = f"no instance is much slower than its siblings: {than}, less than {SLOWER} ×"
        return Conditions(False, why)
    why = (
        f"{than}, but not for good: its median is {found.median_ratio:.1f} × theirs, and equal "
        f"instances would differ so with p = {found.p_value:.2g}"
    )
    return Conditions(False, why)


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    settings: Settings = {
        "policy": str(options["by"]),
        "balance_period_ms": round(float(options["period"]) * 1000),
        "balance_alpha": round(float(options["alpha"]) * 1000),
        "balance_threshold": round(float(options["threshold"]) * 1000),
        "balance_unit": round(float(options["unit"]) * 100),
    }
    return decided(settings, _does(options), conditions(view), _evidence(view), past)


def _does(options: Options) -> str:
    if options["by"] == BY[0]:
        return (
            f"every {options['period']:g} s each sender moves {options['unit']:g} % of its chunks "
            f"from slow instances to fast ones"
        )
    queue = "the shorter of two queues" if options["by"] == BY[1] else "the shortest queue"
    return f"each chunk goes to {queue}"


def _slowest(view: View) -> Slowest | None:
    found = slowest(view, since_ms(view))
    return next((each for each in found if each.is_slow), found[0] if found else None)


def _weights(view: View) -> tuple[float, float] | None:
    """The lowest and highest weight of the siblings that are weighted most unevenly; None where no
    weights are in force, or where they are about even."""
    found = []
    for siblings in families(view):
        if siblings.pool.policy != WEIGHTED:
            continue
        known = [each.weight[~np.isnan(each.weight)] for each in siblings.instances]
        latest = [float(weights[-1]) for weights in known if len(weights)]
        if latest and max(latest) >= SLOWER * min(latest):
            found.append((min(latest), max(latest)))
    return max(found, key=lambda pair: pair[1] - pair[0], default=None)


def _evidence(view: View) -> tuple[Evidence, ...]:
    if unknown(view) or (found := _slowest(view)) is None:
        return ()
    of = [load for load in loads(view) if load.siblings is found.siblings]
    return (*found.evidence, *(each for load in of for each in load.evidence))

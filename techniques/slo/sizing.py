"""How much parallelism a job that misses its SLO is to get: Henge's step, or DS2's.

`henge` gives each congested operator (capacity / threshold − 1) · 10 more threads (equation 4), at
least one, and looks a minute later whether that was enough.

`ds2` (Kalavri et al., OSDI'18) goes there in one step. The *true* processing rate of an instance is
what it executes per second of work, waiting left out. Through the operator graph, from the source
on, each operator will have to execute

    demand_o = Σ_i demand_i · (records that parent i sends to o per record that i executes)

also where a parent is still too slow to send that many, so it needs demand / true rate instances,
here divided by a target utilisation, as a latency SLO leaves no room for queues. Where DS2 finds
nothing to add although the SLO is missed, or a rate is not known, Henge's step is taken.

Both only add: taking away is Reduction's.
"""

from graphlib import CycleError, TopologicalSorter
from math import ceil, isfinite

from techniques.slo.observation import Job, Operator
from techniques.slo.parameters import Parameters, Sizing


def wanted(job: Job, parameters: Parameters) -> dict[str, int]:
    """Returns the parallelism of each operator that is to get more, the most congested first,
    within its bounds. Only congested operators are among them."""
    congested = {
        name: each
        for name, each in job.operators.items()
        if each.capacity is not None and each.capacity > parameters.congested
    }
    step = _henge(congested, parameters)
    if parameters.sizing is Sizing.DS2:
        step = _ds2(job, congested, parameters) or step
    order = sorted(step, key=lambda name: (-(congested[name].capacity or 0.0), name))
    return {name: step[name] for name in order}


def extra_threads(capacity: float, parameters: Parameters) -> int:
    """Equation (4)."""
    return max(1, round((capacity / parameters.congested - 1) * parameters.threads))


def _henge(congested: dict[str, Operator], parameters: Parameters) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, each in congested.items():
        # An executor brings as many threads as it has slots.
        more = ceil(extra_threads(each.capacity or 0.0, parameters) / max(1, each.units))
        if (target := min(each.high, each.parallelism + more)) > each.parallelism:
            found[name] = target
    return found


def _ds2(job: Job, congested: dict[str, Operator], parameters: Parameters) -> dict[str, int]:
    demands = demand_per_s(job)
    found: dict[str, int] = {}
    for name, each in congested.items():
        if name not in demands or not each.true_per_s:
            continue
        needed = demands[name] / (each.true_per_s * parameters.utilisation)
        if not isfinite(needed):
            continue
        # Division leaves 3.0000000000000004 instances where three are enough.
        if (target := min(each.high, ceil(needed - 1e-9))) > each.parallelism:
            found[name] = target
    return found


def demand_per_s(job: Job) -> dict[str, float]:
    """Returns what each operator has to execute to keep up, where that can be told."""
    try:
        order = [
            *TopologicalSorter({n: o.parents for n, o in job.operators.items()}).static_order()
        ]
    except CycleError:
        return {}
    found: dict[str, float] = {}
    for name in order:
        if (operator := job.operators.get(name)) is None:
            continue
        if not operator.parents:
            if operator.arrived_per_s is not None:
                found[name] = operator.arrived_per_s
        elif all(parent in found for parent in operator.parents):
            found[name] = sum(found[each] * ratio for each, ratio in operator.parents.items())
    return found

"""Whether to replay, by Table 4 of Du & Gupta: at moderate or low load, where chunks have a tail.

The timeout itself is computed in the pool every period: the way through Redis would be too long.
"""

from techniques.adaptive_timeout.algorithm import LONG
from techniques.adaptive_timeout.technique import RULES
from techniques.model import Conditions, Decision, Evidence, Options, Past
from techniques.pool.controllers.advisor import Condition, better
from techniques.pool.controllers.loads import CROSSING, Load, loads, unknown
from techniques.pool.controllers.steering import decided
from techniques.pool.settings import Replay
from techniques.view import Reads, View

READS = frozenset((Reads.POOLS,))
MODES = dict(zip(RULES, (Replay.ADAPTIVE, Replay.HEDGE), strict=True))
NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    if nothing := unknown(view):
        return nothing
    load = _worst(view)
    tail = f"of {load.where} p99 of chunks is {load.tail:.1f} × p90"
    busy = f"its instances are busy {load.utilisation:.0%} of the time"
    if load.instances < 2:
        return Conditions(False, f"{load.where} has one instance: there is no other to replay to")
    if load.utilisation >= CROSSING:
        why = (
            f"{tail}, but {busy}, {CROSSING:.0%} or more: copies would only make its queues longer"
        )
        return Conditions(False, why)
    if load.tail <= LONG:
        why = f"{tail}, not more than {LONG} ×: there is no long tail to cut; {busy}"
        return Conditions(False, why)
    why = f"{tail}, more than {LONG} ×, and {busy}, less than {CROSSING:.0%}"
    return Conditions(True, why, better("adaptive_timeout", Condition.TAIL))


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    settings = {
        "replay": int(MODES[str(options["rule"])]),
        "replay_budget": round(float(options["budget"]) * 100),
        "replay_period_ms": round(float(options["period"]) * 1000),
    }
    after = "its timeout" if options["rule"] == RULES[0] else "p95"
    does = f"a chunk older than {after} is sent again, {options['budget']:g} % of them at most"
    return decided(settings, does, conditions(view), _evidence(view), past)


def _worst(view: View) -> Load:
    """The operator with the longest tail among those that may be replayed, if there are any."""
    found = loads(view)
    fit = [load for load in found if load.instances > 1 and load.utilisation < CROSSING]
    return max(fit or found, key=lambda load: load.tail)


def _evidence(view: View) -> tuple[Evidence, ...]:
    return () if unknown(view) else _worst(view).evidence

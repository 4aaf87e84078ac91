"""Whether to share, by Table 4 of Du & Gupta: two instances or more, and queues that are well used;
and by what Erlang C says that it would gain."""

from techniques.model import Conditions, Decision, Options, Past
from techniques.pool.controllers.advisor import Condition, better
from techniques.pool.controllers.loads import CROSSING, unknown
from techniques.pool.controllers.steering import decided
from techniques.shared_queue.prediction import LEAST_SAVING_MS, best
from techniques.shared_queue.technique import POLICY
from techniques.view import Reads, View

READS = frozenset((Reads.POOLS,))
NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    if nothing := unknown(view):
        return nothing
    if (prediction := best(view)) is None:
        return Conditions(None, "too little is known of the job's pools yet")
    load = prediction.load
    busy = f"{load.where} has {load.instances} instances, busy {load.utilisation:.0%} of the time"
    waits = (
        f"by Erlang C a chunk waits {prediction.separate_ms:.3g} ms on average with a queue each, "
        f"{prediction.shared_ms:.3g} ms with one"
    )
    if load.instances < 2:
        return Conditions(False, f"{load.where} has one instance: there is nothing to share")
    if load.utilisation < CROSSING:
        why = f"{busy}, less than {CROSSING:.0%}: queues are short as it is; {waits}"
        return Conditions(False, why)
    if prediction.saving_ms < LEAST_SAVING_MS:
        return Conditions(False, f"{busy}; {waits}: less than {LEAST_SAVING_MS:g} ms to save")
    return Conditions(True, f"{busy}; {waits}", better("shared_queue", Condition.QUEUES))


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    prediction = None if unknown(view) else best(view)
    evidence = (*prediction.evidence, *prediction.load.evidence) if prediction else ()
    does = "all instances of an operator on a host draw from one queue"
    return decided({"policy": POLICY}, does, conditions(view), evidence, past)

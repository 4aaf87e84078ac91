"""Whether to let senders take turns, by Hone: several siblings send, and their backlogs differ.

Who may send is decided in the pool every τ. Backlogs of the tasks' own senders are not among a
job's windows: they take turns as well, but only those of instances are judged here.
"""

from techniques.largest_backlog.backlogs import UNEVEN, worst
from techniques.largest_backlog.technique import WHERE
from techniques.model import Conditions, Decision, Options, Past
from techniques.pool.controllers.advisor import Condition, better
from techniques.pool.controllers.loads import unknown
from techniques.pool.controllers.steering import decided
from techniques.view import Reads, View

READS = frozenset((Reads.POOLS,))
NOTHING_YET = Past()


def conditions(view: View) -> Conditions:
    if nothing := unknown(view):
        return nothing
    if (found := worst(view)) is None:
        return Conditions(
            False, "each operator has one instance on a host: nobody to take turns with"
        )
    where = found.siblings.where
    if not found.windows:
        return Conditions(False, f"nothing waits in the outgoing queues of {where}")
    seen = (
        f"{found.largest_at} of {where} holds back {found.largest:.1f} chunks on average, its "
        f"siblings and it {found.mean:.1f}, in {found.windows} of {found.of} windows"
    )
    if not found.is_uneven:
        why = f"outgoing backlogs are short-lived or about even (less than {UNEVEN} ×): {seen}"
        return Conditions(False, why)
    return Conditions(True, seen, better("largest_backlog", Condition.BACKLOGS))


def decide(view: View, options: Options, past: Past = NOTHING_YET) -> Decision | None:
    settings = {"tau_ms": int(options["tau"]), "shared": options["where"] == WHERE[1]}
    found = None if unknown(view) else worst(view)
    into = " into one shared queue" if settings["shared"] else ""
    does = f"every {options['tau']} ms the sibling with the largest backlog may send{into}"
    return decided(settings, does, conditions(view), found.evidence if found else (), past)

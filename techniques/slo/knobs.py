"""What can be given to a Spark job, as operators of the state machine, and back as settings.

    pool:<operator>   instances of an operator, in all pools and on every host that have it
    share             the query's weight in Spark's fair scheduler, within its application
    executors         executors of the application

Instances and executors take units of the cluster: one for each host, and one for each core. A
weight takes none: it only says who of the same slots gets more. It needs about five slots to act;
where there are fewer, a minimum share goes with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from techniques.schema import Settings
from techniques.slo.bounds import MOST_EXECUTORS, MOST_INSTANCES, MOST_SHARE
from techniques.slo.capacity import PoolOperator, Slots, pool_operators, slots
from techniques.slo.juice import Edge, Graph
from techniques.slo.observation import Operator, Parallelisms
from techniques.slo.of_job import SOURCE, graph
from techniques.slo.window import MINUTE_MS
from techniques.view import View

POOL, SHARE, EXECUTORS = "pool:", "share", "executors"
FEW_SLOTS = 5


@dataclass(frozen=True)
class Allowed:
    """What an operator lets the machine change."""

    pools: bool = True
    share: bool = True
    executors: bool = False


def operators(view: View, allowed: Allowed, wishes: Parallelisms) -> dict[str, Operator]:
    """What the job has of each, and how busy that is. A job with pools gets instances and no share:
    most applications have no fair scheduler, and would refuse both together."""
    found: dict[str, Operator] = {}
    if allowed.pools and (of_pools := pool_operators(view)):
        told = graph(view)
        if told is not None:
            arrived_per_s = told.sources[0].arrived * 1_000 / MINUTE_MS
            found[SOURCE] = Operator(
                1, high=1, units=0, is_source=True, arrived_per_s=arrived_per_s
            )
        found.update({POOL + each.name: _of_pool(each, told) for each in of_pools})
    if (there := slots(view)) is None:
        return found
    if allowed.share and not found:
        # Spark does not tell weights: it is what was asked, or the default.
        found[SHARE] = Operator(
            wishes.get(SHARE, 1), high=MOST_SHARE, units=0, capacity=_wanted(there)
        )
    if allowed.executors:
        found[EXECUTORS] = Operator(
            there.executors, high=MOST_EXECUTORS, units=there.cores, capacity=there.capacity
        )
    return found


def _of_pool(each: PoolOperator, told: Graph | None) -> Operator:
    return Operator(
        each.instances,
        high=min(each.room or MOST_INSTANCES, MOST_INSTANCES),
        units=each.hosts,
        capacity=each.capacity,
        # An instance more is one on every host.
        true_per_s=each.true_per_s and each.true_per_s * each.hosts,
        parents=_parents(each.name, told) if told else {},
    )


def _parents(operator: str, told: Graph) -> dict[str, float]:
    """What each parent sends here for each that it executes; empty where that is not known."""
    executed = {each.name: each.executed for each in told.sources}
    for edge in told.edges:
        executed[edge.child] = executed.get(edge.child, 0.0) + edge.executed
    into: list[Edge] = [edge for edge in told.edges if _short(edge.child) == operator]
    if not all(executed[edge.parent] for edge in into):
        return {}
    found: dict[str, float] = {}
    for edge in into:
        parent = SOURCE if edge.parent == SOURCE else POOL + _short(edge.parent)
        found[parent] = found.get(parent, 0.0) + edge.sent / executed[edge.parent]
    return found


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _wanted(there: Slots) -> float | None:
    """How much the query lacks slots: they are busy with its tasks, or its tasks wait for some."""
    known = [each for each in (there.capacity, there.waiting) if each is not None]
    return max(known) if known else None


def settings(wishes: Parallelisms, number_of_slots: int | None) -> Settings:
    """What the job is to hold."""
    found: dict[str, int | Mapping[str, int]] = {}
    instances = {
        name.removeprefix(POOL): to for name, to in wishes.items() if name.startswith(POOL)
    }
    if instances:
        found["instances"] = instances
    if SHARE in wishes:
        found["share"] = wishes[SHARE]
        if wishes[SHARE] > 1 and number_of_slots and number_of_slots < FEW_SLOTS:
            found["min_share"] = max(1, number_of_slots // 2)
    if EXECUTORS in wishes:
        found["executors"] = wishes[EXECUTORS]
    return found

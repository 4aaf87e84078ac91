"""How busy a job's operators are: equation (3), the share of time in which an instance works.

    capacity = executed · mean execute latency / time

An instance of a pool says for how long it worked, which is the same product. An operator's
capacity is that of its busiest instance, on whatever host. Spark's stages have no instances of
their own: all of a query's stages work in the slots of its executors, so what can be given to them
are executors, and a share of the slots that several queries of one application want. There,
capacity is the time of the query's tasks over the time of the slots.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from techniques.slo import window
from techniques.slo.observation import Machine
from techniques.view import WINDOW_MS, Instance, ResourceKind, View

# Of `ResourceKind.RUN_QUEUE`, which is 1 where two threads want each core.
CROWDED = 2.0


@dataclass(frozen=True)
class PoolOperator:
    """An operator in all pools and on all hosts that have it. `instances` is the most on one host,
    `room` the most that every host has room for (None where that is not known);
    `true_per_s` what one of them executes in a second of work, `executed_per_s` what all do."""

    name: str
    instances: int
    hosts: int
    capacity: float
    executed_per_s: float
    true_per_s: float | None
    room: int | None = None


@dataclass(frozen=True)
class Slots:
    """Where Spark runs the query's tasks. `capacity` is that of the busiest executor, `waiting` the
    share of the minute in which tasks waited for a slot."""

    executors: int
    cores: int
    capacity: float | None
    waiting: float | None

    @property
    def total(self) -> int:
        return self.executors * self.cores


def pool_operators(view: View) -> list[PoolOperator]:
    """In the order of the pools and their chains."""
    found: dict[str, dict[str, list[Instance]]] = {}
    for pool in view.pools:
        for each in pool.instances:
            if window.mean(view, each.busy) is not None:
                found.setdefault(each.operator, {}).setdefault(pool.host, []).append(each)
    return [_operator(view, name, by_host) for name, by_host in found.items()]


def _operator(view: View, name: str, by_host: Mapping[str, Iterable[Instance]]) -> PoolOperator:
    hosts = [list(each) for each in by_host.values()]
    instances = [each for host in hosts for each in host]
    busy = [window.mean(view, each.busy) or 0.0 for each in instances]
    per_s = [(window.mean(view, each.executed) or 0.0) * 1_000 / WINDOW_MS for each in instances]
    executed, worked = sum(per_s), sum(busy)
    return PoolOperator(
        name,
        max(len(host) for host in hosts),
        len(hosts),
        min(1.0, max(busy)),
        executed,
        executed / worked if executed and worked else None,
        min((pool.room[name] for pool in view.pools if name in pool.room), default=None),
    )


def slots(view: View) -> Slots | None:
    """None while the executors are not known."""
    there = [each for each in view.executors if each.left_ms is None and not each.leaving]
    if not there:
        return None
    cores = max([each.cores for each in there if each.cores], default=view.cores or 1)
    return Slots(len(there), cores, _busiest(view, cores), _waiting(view))


def _busiest(view: View, cores: int) -> float | None:
    """Where Spark runs more than 200 tasks a second only the slowest are known: then this is the
    least that it can be."""
    tasks, since_ms = view.tasks, view.end_ms - window.MINUTE_MS
    if not len(tasks) or len(view) * WINDOW_MS < window.MINUTE_MS // 2:
        return None
    since_ms = max(since_ms, view.start_ms)
    worked_ms = np.maximum(0.0, tasks.end_ms - np.maximum(tasks.start_ms, since_ms))
    _, which = np.unique(tasks.executor.astype(str), return_inverse=True)
    by_executor = np.bincount(which, weights=worked_ms)
    return min(1.0, float(by_executor.max()) / ((view.end_ms - since_ms) * cores))


def _waiting(view: View) -> float | None:
    return window.mean(view, np.where(np.isnan(view.waiting_tasks), np.nan, view.waiting_tasks > 0))


def machines(views: Iterable[View]) -> tuple[Machine, ...]:
    """The hosts of all jobs, each once. Load is the number of threads that want a core."""
    found: dict[str, Machine] = {}
    for view in views:
        for resource, used in view.use.items():
            if resource.kind is not ResourceKind.RUN_QUEUE or not view.cores:
                continue
            queue = window.mean(view, used)
            load = None if queue is None else queue * CROWDED * view.cores
            before = found.get(resource.where)
            if before is None or (before.load or 0.0) < (load or 0.0):
                found[resource.where] = Machine(view.cores, load)
    return tuple(found[name] for name in sorted(found))

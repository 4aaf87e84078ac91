"""How the instances of an operator are doing: the numbers that Table 4 of Du & Gupta asks for.

Latency here is that of a chunk at one instance, from being sent to it to being done. All of it is
of the last half minute: long enough for a p99, short enough to show a change soon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.model import Conditions, Evidence
from techniques.pool.controllers.steering import NO_POOL
from techniques.view import WINDOW_MS, Floats, Instance, Ints, Pool, View

RECENT_MS = 30_000
# With fewer chunks of an operator a p99 says nothing.
FEWEST_CHUNKS = 100
# The paper's Figure 4: below this utilisation replays help more, above it a shared queue does.
CROSSING = 0.58


@dataclass(frozen=True, eq=False)
class Siblings:
    """The instances of one operator in one pool on one host."""

    pool: Pool
    operator: str
    instances: tuple[Instance, ...]

    @property
    def where(self) -> str:
        return f"{self.operator} on {self.pool.host}"


@dataclass(frozen=True, eq=False)
class Load:
    """`utilisation` (ρ) is the share of time in which an instance works, on average; `wait_ms` the
    mean time from being sent to an instance to being begun there."""

    siblings: Siblings
    chunks: int
    utilisation: float
    service_ms: float
    wait_ms: float
    waiting: float
    p90_ms: float
    p99_ms: float

    @property
    def instances(self) -> int:
        return len(self.siblings.instances)

    @property
    def where(self) -> str:
        return self.siblings.where

    @property
    def tail(self) -> float:
        """How long the tail is: p99 / p90."""
        return self.p99_ms / self.p90_ms if self.p90_ms > 0 else 1.0

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        seconds = RECENT_MS // 1000
        return (
            Evidence("instances", f"{self.instances} of {self.where}"),
            Evidence("queue utilisation (busy share of instances)", f"{self.utilisation:.0%}"),
            Evidence("chunks that wait", f"{self.waiting:.1f} on average"),
            Evidence("work per chunk", f"{self.service_ms:.3g} ms on average"),
            Evidence(
                "chunk latency",
                f"p90 {self.p90_ms:.3g} ms, p99 {self.p99_ms:.3g} ms, {self.tail:.1f} ×",
            ),
            Evidence("seen", f"{self.chunks} chunks in the last {seconds} s"),
        )


def families(view: View) -> list[Siblings]:
    """The instances by pool, host and operator, in the order of the pools."""
    return view.once(_families)


def _families(view: View) -> list[Siblings]:
    found: dict[tuple[int, str], list[Instance]] = {}
    for at, pool in enumerate(view.pools):
        for each in pool.instances:
            found.setdefault((at, each.operator), []).append(each)
    return [
        Siblings(view.pools[at], operator, tuple(held)) for (at, operator), held in found.items()
    ]


def loads(view: View) -> list[Load]:
    """The operators of which enough is known."""
    return view.once(_loads)


def unknown(view: View) -> Conditions | None:
    """What there is to say of a job before any number of its pools; None where there are some."""
    if not len(view):
        return Conditions(None, "nothing is known of this job yet")
    if not view.pools:
        return Conditions(False, NO_POOL)
    if not loads(view):
        why = f"fewer than {FEWEST_CHUNKS} chunks went through its pools in half a minute"
        return Conditions(None, why)
    return None


def chunks_of(instance: Instance, since_ms: float) -> tuple[Floats, Ints]:
    """Latencies of the instance's chunks in ms, ascending, and how many had each."""
    recent = instance.latency.window_ms >= since_ms
    ms, count = instance.latency.ms[recent], instance.latency.count[recent]
    order = np.argsort(ms, kind="stable")
    return ms[order], count[order]


def since_ms(view: View) -> float:
    return max(view.start_ms, view.end_ms - RECENT_MS)


def _loads(view: View) -> list[Load]:
    found = (_load(view, siblings) for siblings in families(view))
    return [each for each in found if each is not None]


def _load(view: View, siblings: Siblings) -> Load | None:
    windows = int((view.end_ms - since_ms(view)) // WINDOW_MS)
    each = [chunks_of(instance, since_ms(view)) for instance in siblings.instances]
    ms = np.concatenate([ms for ms, _ in each])
    count = np.concatenate([count for _, count in each])
    chunks = int(count.sum())
    if chunks < FEWEST_CHUNKS:
        return None
    busy = _last(windows, [one.busy for one in siblings.instances])
    executed = float(np.nansum(_last(windows, [one.executed for one in siblings.instances])))
    service_ms = float(np.nansum(busy)) * WINDOW_MS / (executed or chunks)
    # Of a chain's shared queues only the sum is known.
    queues = [*(one.queued for one in siblings.instances), siblings.pool.shared_queued]
    order = np.argsort(ms, kind="stable")
    ranks = np.cumsum(count[order])
    p90_ms, p99_ms = (
        float(ms[order][np.searchsorted(ranks, share * chunks)]) for share in (0.9, 0.99)
    )
    return Load(
        siblings=siblings,
        chunks=chunks,
        utilisation=min(1.0, float(np.nan_to_num(busy).mean())),
        service_ms=service_ms,
        wait_ms=max(0.0, float(np.average(ms, weights=count)) - service_ms),
        waiting=float(np.nansum(_last(windows, queues), axis=0).mean()),
        p90_ms=p90_ms,
        p99_ms=p99_ms,
    )


def _last(windows: int, values: Sequence[Floats]) -> Floats:
    return np.array([each[-windows:] for each in values])

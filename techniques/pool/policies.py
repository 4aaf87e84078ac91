"""Which instance gets the next chunk.

A policy is asked by each dispatcher: a Spark task for the first operator of a chain, an instance
for the next one. Each of them has a policy object of its own, so a policy needs no lock,
and what it remembers is what this one dispatcher did. Which policy is in force stands in the pool's
control page (`techniques.pool.page`) and is looked up for every chunk, so a switch holds from the
next chunk on.

A new policy is a class here and a line in `POLICIES`; its number is what the page holds, so a
number is never given twice. A policy that needs more than queue lengths gets it by `Instances`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from techniques.latency_balancing.algorithm import Tuning, aged, begun_with, settled_to, shifted

# Instead of an instance: the queue that all instances of the operator share.
SHARED = -1


class Worked(NamedTuple):
    """An instance's chunks so far, and the sum of their latencies since they were sent to it."""

    chunks: int
    latency_ns: int


class Instances(Protocol):
    """What a policy may know of one operator's instances; numbers are those of the page."""

    @property
    def ready(self) -> Sequence[int]:
        """Those that can take chunks, in the order of their numbers; never empty."""

    def queued(self, instance: int) -> int:
        """Chunks in the instance's own queue now, and in its work."""

    def worked(self, instance: int) -> Worked: ...

    @property
    def shares(self) -> Mapping[int, float]:
        """The instances' shares as an operator set them, in percent; without those that are not."""

    @property
    def tuning(self) -> Tuning: ...

    @property
    def period_s(self) -> float:
        """How often weights are adjusted."""

    @property
    def now_s(self) -> float: ...

    def weigh(self, weights: Mapping[int, float]) -> None:
        """Publishes this dispatcher's weights."""


class Policy(Protocol):
    def choose(self, instances: Instances) -> int:
        """One of `instances.ready`, or `SHARED`."""


class RoundRobin:
    """Each in turn, whatever its queue length: shuffle grouping, the papers' baseline."""

    def __init__(self) -> None:
        self._last = -1

    def choose(self, instances: Instances) -> int:
        ready = instances.ready
        self._last = next((one for one in ready if one > self._last), ready[0])
        return self._last


class FewestQueued:
    """The shortest queue; ties are broken in turn, or the first instance would get most chunks."""

    def __init__(self) -> None:
        self._turn = 0

    def choose(self, instances: Instances) -> int:
        ready = instances.ready
        self._turn += 1
        start = self._turn % len(ready)
        return min((*ready[start:], *ready[:start]), key=instances.queued)


class PowerOfTwo:
    """The shorter queue of two drawn at random (Mitzenmacher, 2001), by what they hold now."""

    def choose(self, instances: Instances) -> int:
        ready = instances.ready
        if len(ready) == 1:
            return ready[0]
        return min(random.sample(ready, 2), key=instances.queued)


class LatencyWeighted:
    """Each in proportion to its weight, which latencies move: Du & Gupta's Algorithm 2."""

    def __init__(self) -> None:
        self._weights: dict[int, float] = {}
        self._latency: dict[int, float] = {}
        self._before: dict[int, Worked] = {}
        self._credit: dict[int, float] = {}
        self._due_s: float | None = None

    def choose(self, instances: Instances) -> int:
        ready = instances.ready
        self._adjust(instances, ready)
        # Smooth weighted round robin: exact shares, and never two in a row where that can be.
        for one in ready:
            self._credit[one] = self._credit.get(one, 0.0) + self._weights[one]
        chosen = max(ready, key=lambda one: self._credit[one])
        self._credit[chosen] -= sum(self._weights[one] for one in ready)
        return chosen

    def _adjust(self, instances: Instances, ready: Sequence[int]) -> None:
        if set(self._weights) != set(ready):
            least = instances.tuning.least
            self._weights = (
                settled_to(self._weights, ready, least)
                if self._weights
                else begun_with(instances.shares, ready, least)
            )
            self._credit = {one: self._credit.get(one, 0.0) for one in ready}
            instances.weigh(self._weights)
        if self._due_s is None or instances.now_s >= self._due_s:
            first = self._due_s is None
            self._due_s = instances.now_s + instances.period_s
            measured = self._measured(instances, ready)
            if first:
                return
            self._latency = aged(self._latency, measured, instances.tuning.alpha)
            self._weights = shifted(self._weights, self._latency, instances.tuning)
            instances.weigh(self._weights)

    def _measured(self, instances: Instances, ready: Sequence[int]) -> dict[int, float]:
        """The mean latency of each instance since the last look; of none that did nothing."""
        found: dict[int, float] = {}
        for one in ready:
            now = instances.worked(one)
            before = self._before.get(one, now)
            if now.chunks > before.chunks:
                found[one] = (now.latency_ns - before.latency_ns) / (now.chunks - before.chunks)
            self._before[one] = now
        return found


class SharedQueue:
    """None in particular: all instances of the operator draw from one queue."""

    def choose(self, instances: Instances) -> int:
        return SHARED


POLICIES: dict[str, tuple[int, Callable[[], Policy]]] = {
    "round-robin": (0, RoundRobin),
    "fewest-queued": (1, FewestQueued),
    "power-of-two": (2, PowerOfTwo),
    "latency-weighted": (3, LatencyWeighted),
    "shared-queue": (4, SharedQueue),
}
BASELINE = "round-robin"


def number_of(name: str) -> int:
    if name not in POLICIES:
        raise ValueError(f"no policy {name!r}; there are {', '.join(POLICIES)}")
    return POLICIES[name][0]


def name_of(number: int) -> str:
    """Returns the policy's name. An unknown number (of a newer version) gives the baseline, because
    it must not stop a running pool."""
    return next((name for name, (own, _) in POLICIES.items() if own == number), BASELINE)


def policy(number: int) -> Policy:
    return POLICIES[name_of(number)][1]()

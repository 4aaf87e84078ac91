"""Which instance gets the next chunk.

A policy is asked by each dispatcher: a Spark task for the first operator of a chain, an instance
for the next one. Each of them has a policy object of its own, so a policy needs no lock,
and what it remembers is what this one dispatcher did. Which policy is in force stands in the pool's
control page (`techniques.pool.page`) and is looked up for every chunk, so a switch holds from the
next chunk on.

A new policy is a class here and a line in `POLICIES`; its number is what the page holds, so a
number is never given twice. A policy that needs more than queue lengths gets it by `Instances`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol


class Instances(Protocol):
    """What a policy may know of one operator's instances; numbers are those of the page."""

    @property
    def ready(self) -> Sequence[int]:
        """Those that can take chunks, in the order of their numbers; never empty."""

    def queued(self, instance: int) -> int:
        """Chunks in the instance's own queue now."""


class Policy(Protocol):
    def choose(self, instances: Instances) -> int:
        """One of `instances.ready`."""


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


POLICIES: dict[str, tuple[int, Callable[[], Policy]]] = {
    "round-robin": (0, RoundRobin),
    "fewest-queued": (1, FewestQueued),
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

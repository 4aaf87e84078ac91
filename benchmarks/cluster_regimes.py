"""What is compared on three loopback hosts: regimes, their arms and the order of blocks.

Arms, each a state of the same running query:

    off                  Spark as it is, its speculation switched off
    default_speculation  Spark's own speculation with its own constants
    speculation          the technique `task_copies`: copies of tasks older than the timeout
    balancing            the technique `state_balancing`: state partitions leave slow executors

Regimes:

    even       all hosts alike
    slow_host  the executor of one host runs for 10 of every 40 ms
    stalls     one executor at a time stands still for 0.5 to 1 s, about every 4 s

In `stalls` the query keeps no state, like the operators of the paper: a task that reads state waits
for the executor that has it, whatever is copied. It has one task per executor and stage, so an
executor that stands still has no shuffle files of this batch that others wait for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.live_speculation.technique import TECHNIQUE as LIVE
from techniques.model import Options
from techniques.schema import Settings

OFF, DEFAULT = "off", "default_speculation"
SPECULATION, BALANCING = "speculation", "balancing"
# The technique whose controller decides in an arm.
TECHNIQUES: Mapping[str, str] = {SPECULATION: "task_copies", BALANCING: "state_balancing"}
EVEN, SLOW_HOST, STALLS = "even", "slow_host", "stalls"

HOSTS = 3
SHARE = 0.25
# So often that some tens of batches of each arm are hit, and so rarely that most are not.
STALL_S, EVERY_S = (0.5, 1.0), 4.0
# Spark looks for late tasks only if this was so at the start; arms switch it for each task set.
WATCHED = ("--speculation",)
STATEFUL = (*WATCHED, "--partitions", "12")
STATELESS = (*WATCHED, "--stateless", "--partitions", str(HOSTS))


@dataclass(frozen=True)
class Regime:
    """`words` are options of the example job. A regime with `partitions` keeps state in them."""

    name: str
    words: tuple[str, ...]
    arms: tuple[str, ...]
    partitions: int = 0

    def neighbour(self, work_dirs: Sequence[Path], seed: int) -> tuple[str, ...]:
        """The options of `examples.noisy_neighbour`; none if it is not needed."""
        if self.name == SLOW_HOST:
            return ("--work-dir", str(work_dirs[-1]), "--share", str(SHARE))
        if self.name == STALLS:
            of = [word for each in work_dirs for word in ("--work-dir", str(each))]
            lengths = (str(bound_s) for bound_s in STALL_S)
            return (*of, "--stall-s", *lengths, "--every-s", str(EVERY_S), "--seed", str(seed))
        return ()


REGIMES: Mapping[str, Regime] = {
    each.name: each
    for each in (
        Regime(EVEN, STATEFUL, (OFF, BALANCING), partitions=12),
        Regime(SLOW_HOST, STATEFUL, (OFF, DEFAULT, BALANCING), partitions=12),
        Regime(STALLS, STATELESS, (OFF, DEFAULT, SPECULATION)),
    )
}


@dataclass(frozen=True)
class Plan:
    """Lengths in micro-batches, one a second. `settle` is left out of what counts; a technique
    that decides by itself gets `settle_acting`, and `options` where it is not to have its own."""

    rounds: Mapping[str, int] = field(default_factory=dict)
    warm_up: int = 30
    settle: int = 3
    settle_acting: Mapping[str, int] = field(default_factory=dict)
    length: int = 40
    options: Mapping[str, Options] = field(default_factory=dict)

    def settles(self, arm: str) -> int:
        return self.settle_acting.get(arm, self.settle)


def orders(arms: Sequence[str], rounds: int) -> list[tuple[str, ...]]:
    """Every second round is the one before backwards, and each pair begins one arm further on."""
    found = []
    for number in range(rounds):
        turn = number // 2 % len(arms)
        order = (*arms[turn:], *arms[:turn])
        found.append(order if number % 2 == 0 else order[::-1])
    return found


def asked(arm: str) -> dict[str, Settings]:
    """What an arm asks of the job besides what its technique decides."""
    return {LIVE.name: {"on": arm == DEFAULT}}


def spread(partitions: int, executors: Sequence[str]) -> Settings:
    """The settings of `state_balancing` that give every executor equally many partitions."""
    return {"places": {str(at): executors[at % len(executors)] for at in range(partitions)}}

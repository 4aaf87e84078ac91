"""What is compared, what each arm asks of the running job, and in which order blocks follow.

    off         thresholds as Spark has them, 4, all stores kept in phase
    control     thresholds of 5 and 6 in turn, all stores kept in phase: as high on average as
                those of the treatment, so about as many compactions, at the same time
    thresholds  4 + α, α of each store uniform in {0, 1, 2, 3}
    delay       compaction waits for T after the flush, otherwise as off
    threads     as many flush threads as cores, otherwise as off
    all         the three together
    changelog   changelog checkpoints, nothing asked
    snapshots   changelog checkpoints, the snapshots of each store in a phase of its own

Thresholds from 7 to 14 are measured likewise, with a control of 10 and 11 (`Draw`). Whether there
are changelogs is a setting of the start, so the last two are of another query than the others
(`restarts`).

*Off* is an order like *control*, but sets nothing: without any order, the lever would first bring
each store back to the checkpoints at which it compacted before the first order.

Whatever `thresholds` gains over *off* may be less work; what it gains over *control* is that stores
do not work at the same time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor
from statistics import fmean

from techniques.model import Scalar
from techniques.schema import Settings
from techniques.shadowsync.algorithm import SPREAD, THRESHOLD, alpha

OFF, CONTROL, THRESHOLDS, DELAY, THREADS, ALL = (
    "off",
    "control",
    "thresholds",
    "delay",
    "threads",
    "all",
)
CHANGELOG, SNAPSHOTS = "changelog", "snapshots"
CORE = (OFF, CONTROL, THRESHOLDS)
PARTS = (THRESHOLDS, DELAY, THREADS, ALL)
# The arms of each start of the job, without changelogs and with them.
STARTS = ((OFF, THRESHOLDS), (CHANGELOG, SNAPSHOTS))
# How far the mean threshold of a draw may differ from the control's: further, and the two would
# differ in the number of compactions as well.
NEAR = 0.25


@dataclass(frozen=True)
class Draw:
    """Thresholds of the treatment: `base` + α, α uniform in 0 … `spread` − 1."""

    base: int = THRESHOLD
    spread: int = SPREAD

    @property
    def mean(self) -> float:
        return self.base + (self.spread - 1) / 2

    @property
    def controls(self) -> tuple[int, int]:
        """The control's two thresholds, used in turn: on average as high as the treatment's."""
        return floor(self.mean), ceil(self.mean)


SPARKS = Draw()
HIGH = Draw(base=7, spread=8)


@dataclass(frozen=True)
class Block:
    """`rephase` is set first, until all stores are in phase, then `settings`; None sets nothing.
    `cycle` is the approximate number of micro-batches from compaction to compaction."""

    round: int
    arm: str
    rephase: Settings | None
    settings: Settings | None
    cycle: int = THRESHOLD


def orders(rounds: int, extra: Sequence[str] = (), extra_every: int = 2) -> list[tuple[str, ...]]:
    """The arms of each round: the core arms in all, the extra ones in every `extra_every`-th pair.

    Every second round is the one before backwards, and each such pair begins one arm further on:
    what drifts with time, and what one block leaves to the next, falls on all arms alike.
    """
    found = []
    for number in range(rounds):
        with_extra = number // 2 % extra_every == 0
        arms = (*CORE, *extra) if with_extra else CORE
        turn = number // 2 % len(arms)
        order = arms[turn:] + arms[:turn]
        found.append(order if number % 2 == 0 else order[::-1])
    return found


def blocks(
    number: int,
    order: Iterable[str],
    seed: int,
    delay_ms: int | None,
    compaction_threads: int = 0,
    draw: Draw = SPARKS,
) -> list[Block]:
    """The blocks of one round. If no delay fits, arms that need one are left out, except *all*."""
    asked: Mapping[str, dict[str, Scalar]] = {
        THRESHOLDS: {
            "thresholds": True,
            "lowest": draw.base,
            "spread": draw.spread,
            "seed": seed,
        },
        DELAY: {"delay_ms": delay_ms or 0},
        THREADS: {"threads": True, "compaction_threads": compaction_threads},
    }
    everything = {name: value for part in asked.values() for name, value in part.items()}
    found = []
    for arm in order:
        if arm == DELAY and delay_ms is None:
            continue
        if arm in (CHANGELOG, SNAPSHOTS):
            found.append(
                Block(number, arm, None, {"snapshots": True} if arm == SNAPSHOTS else None)
            )
            continue
        base = draw.controls[number % 2] if arm == CONTROL else THRESHOLD
        in_step: Settings = {"in_step": True, "base": base}
        settings = {OFF: in_step, CONTROL: in_step, ALL: everything, **asked}[arm]
        cycle = ceil(draw.mean) if arm in (THRESHOLDS, ALL) else base
        found.append(Block(number, arm, in_step, settings, cycle))
    return found


def starts(rounds: int) -> list[tuple[tuple[str, ...], ...]]:
    """The arms of each start in each round: every second round is the one before backwards."""
    backwards = tuple(arms[::-1] for arms in STARTS[::-1])
    return [STARTS if number % 2 == 0 else backwards for number in range(rounds)]


def seeds(stores: Sequence[tuple[int, int]], count: int, draw: Draw = SPARKS) -> list[int]:
    """Seeds whose draw for these stores is as high on average as the control's thresholds."""
    return list(islice(_balanced(stores, draw), count))


def _balanced(stores: Sequence[tuple[int, int]], draw: Draw) -> Iterator[int]:
    seed = 0
    while True:
        drawn = fmean(draw.base + alpha(seed, *store, spread=draw.spread) for store in stores)
        if abs(drawn - draw.mean) <= NEAR:
            yield seed
        seed += 1

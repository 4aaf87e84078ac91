"""What is compared, what each arm asks of the running job, and in which order blocks follow.

    off         thresholds as Spark has them, 4, all stores kept in phase
    control     thresholds of 5 and 6 in turn, all stores kept in phase: as high on average as
                those of the treatment, so about as many compactions, at the same time
    thresholds  4 + α, α of each store uniform in {0, 1, 2, 3}
    delay       compaction waits for T after the flush, otherwise as off
    threads     as many flush threads as cores, otherwise as off
    all         the three together

Off is held as the control is, and sets nothing: really off, the lever would first bring each store
back to the checkpoints at which it compacted before anything was asked.

Whatever `thresholds` gains over *off* may be less work; what it gains over *control* is that stores
do not work at the same time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
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
CORE = (OFF, CONTROL, THRESHOLDS)
PARTS = (THRESHOLDS, DELAY, THREADS, ALL)
CONTROL_BASES = (5, 6)
MEAN_THRESHOLD = THRESHOLD + (SPREAD - 1) / 2
# A draw that happens to be higher or lower on average would be compared with the wrong control.
NEAR = 0.25


@dataclass(frozen=True)
class Block:
    """`rephase` is asked first, until all stores are in step; then `settings`."""

    round: int
    arm: str
    rephase: Settings
    settings: Settings


def orders(rounds: int, extra: Sequence[str] = (), extra_every: int = 2) -> list[tuple[str, ...]]:
    """The arms of each round: the core in all, the extra ones in every so many.

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
    number: int, order: Iterable[str], seed: int, delay_ms: int | None, compaction_threads: int = 0
) -> list[Block]:
    """One round; arms that need a delay are left out where none fits, but for *all*."""
    asked: Mapping[str, dict[str, Scalar]] = {
        THRESHOLDS: {"thresholds": True, "spread": SPREAD, "seed": seed},
        DELAY: {"delay_ms": delay_ms or 0},
        THREADS: {"threads": True, "compaction_threads": compaction_threads},
    }
    everything = {name: value for part in asked.values() for name, value in part.items()}
    found = []
    for arm in order:
        if arm == DELAY and delay_ms is None:
            continue
        base = CONTROL_BASES[number % len(CONTROL_BASES)] if arm == CONTROL else THRESHOLD
        in_step: Settings = {"in_step": True, "base": base}
        settings = {OFF: in_step, CONTROL: in_step, ALL: everything, **asked}[arm]
        found.append(Block(number, arm, in_step, settings))
    return found


def seeds(stores: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Those whose draw for these stores is as high on average as the control's thresholds."""
    return list(islice(_balanced(stores), count))


def _balanced(stores: Sequence[tuple[int, int]]) -> Iterator[int]:
    seed = 0
    while True:
        drawn = fmean(THRESHOLD + alpha(seed, *store) for store in stores)
        if abs(drawn - MEAN_THRESHOLD) <= NEAR:
            yield seed
        seed += 1

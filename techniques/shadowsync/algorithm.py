"""Mitigation methods of the ShadowSync paper (section 4), its symbols kept.

Section 4.1, the first technique: instances that compact at every fourth flush are taken apart by a
random integer α, uniform in [0, 4), on top of that threshold of 4. Here α follows from a seed and
the name of the state store, so that a run can be repeated.

The second: compaction is put off until the queue that the flush built up has drained,

    Q = λ · Δt        (1)    λ input rate, Δt duration of a cluster of flushes
    T = Q / C         (2)    C processing capability

which has to end before the next checkpoint flushes (Figure 12: a delay as long as the interval
brings the overlap back).

Section 4.2.1, as many flush threads as CPU cores, is left to each executor, which knows its cores.
"""

from dataclasses import dataclass
from math import ceil

THRESHOLD = 4
SPREAD = 4

# RocksDB slows writes down at so many files at level 0; a threshold stays below by the margin.
SLOWDOWN = 20
MARGIN = 4

_MASK = (1 << 64) - 1


def alpha(
    seed: int,
    operator: int,
    partition: int,
    store: str = "default",
    reopened: int = 0,
    spread: int = SPREAD,
) -> int:
    """The α of a state store: 0 … spread − 1. `reopened` counts how often Spark has reopened the
    store; each time it draws anew.

    `collectors/probe/statestore/Thresholds.scala` draws the same on the executor; a test compares
    the two.
    """
    return _mixed(_hash(f"{seed}/{operator}/{partition}/{reopened}/{store}")) % spread


def threshold(drawn: int, base: int = THRESHOLD, slowdown: int = SLOWDOWN) -> int:
    """The number of files at level 0 at which the store compacts."""
    return min(base + drawn, ceiling(base, slowdown))


def ceiling(base: int = THRESHOLD, slowdown: int = SLOWDOWN) -> int:
    """The number of files at level 0 that no threshold and no delay may exceed."""
    return max(base, slowdown - MARGIN)


@dataclass(frozen=True)
class Load:
    """The measurements from which a delay is computed."""

    rate_per_s: float  # λ
    flush_ms: float  # Δt
    capacity_per_s: float  # C
    interval_ms: float  # from checkpoint to checkpoint
    compaction_ms: float

    @property
    def queued(self) -> float:
        """Q, the records that queue up during a flush."""
        return self.rate_per_s * self.flush_ms / 1000


@dataclass(frozen=True)
class Delay:
    """`ms` is T, or None if no T fits; `why` gives the reason in words."""

    ms: int | None
    why: str


def delay(load: Load) -> Delay:
    if load.capacity_per_s <= 0 or load.rate_per_s >= load.capacity_per_s:
        return Delay(None, "the job is at its capacity: what queues during a flush does not drain")
    drain_ms = ceil(load.queued / load.capacity_per_s * 1000)
    room_ms = load.interval_ms - load.compaction_ms
    if drain_ms >= room_ms:
        return Delay(
            None,
            f"draining takes {drain_ms} ms and a compaction {load.compaction_ms:.0f} ms, "
            f"and the next checkpoint comes after {load.interval_ms:.0f} ms",
        )
    return Delay(
        _longer(max(1, drain_ms), room_ms),
        f"λ = {load.rate_per_s:.0f}/s for Δt = {load.flush_ms:.0f} ms, "
        f"drained at C = {load.capacity_per_s:.0f}/s",
    )


def _longer(drain_ms: int, room_ms: float) -> int:
    """Rounds up to the next power of two if there is room: a longer delay does no harm (Figure 12:
    1000 ms is as good as 3000 ms), a shorter one does, and noise does not change the result."""
    rounded = 1 << (drain_ms - 1).bit_length()
    return rounded if rounded < room_ms else drain_ms


def _hash(text: str) -> int:
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & _MASK
    return value


def _mixed(value: int) -> int:
    """The finaliser of SplitMix64."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31

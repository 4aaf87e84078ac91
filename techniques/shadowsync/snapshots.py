"""Snapshots of state stores with changelog checkpoints, each partition in a phase of its own.

Spark's own form of the problem: with changelogs a commit uploads only what changed, and every n-th
(`minDeltasForSnapshot`) writes a snapshot of the whole state, of all partitions in the same batch.
Here partition p does so when

    (version + offset_p) mod n = 0

Spark counts from the version of the last snapshot, a number in memory. It is set once per store, so
that the next snapshot falls where the phase says; from there on Spark counts alone.
`collectors/probe/statestore/SnapshotPhase.scala` does the same on the executor; a test
compares the two.
"""

from collections.abc import Iterator
from itertools import count, islice

from techniques.shadowsync.algorithm import alpha


def offset(seed: int, operator: int, partition: int, every: int) -> int:
    """The phase of a partition: 0 … every − 1. Any `every` consecutive partitions have different
    ones, and fewer are about evenly spaced: 0, 1/2, 1/4, 3/4, 1/8 … of `every`, shifted by a draw
    from seed and operator."""
    drawn = next(islice(_order(every), partition % every, None))
    return (drawn + alpha(seed, operator, 0, "snapshots", spread=every)) % every


def next_snapshot(loaded: int, last: int, every: int, offset: int) -> int:
    """The version at which the store is to write its next snapshot.

    `loaded` is the version it has, `last` that of its last snapshot. The next one comes at most two
    periods less one after the last, and once that is past, at the next version: setting phases
    again and again cannot put a snapshot off for longer.
    """
    following = loaded + every - (loaded + offset) % every
    return min(following, max(last + 2 * every - 1, loaded + 1))


def _order(every: int) -> Iterator[int]:
    bits = (every - 1).bit_length()
    seen = set()
    for number in count():
        at = _reversed(number, bits) * every >> bits
        if at not in seen:
            seen.add(at)
            yield at


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2) if bits else 0

"""Operator pools: the queue and the work of each instance, window by window."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from techniques.intervals import Floats, Ints, Objects


@dataclass(frozen=True, eq=False)
class Latencies:
    """Latency of chunks from being sent to an instance to being done: a row per window and
    non-empty bucket, oldest window first. `ms` is the value that the bucket stands for."""

    window_ms: Floats
    ms: Floats
    count: Ints

    def __len__(self) -> int:
        return len(self.ms)


@dataclass(frozen=True, eq=False)
class Sent:
    """Chunks sent between instances: a row per window and pair, oldest window first. `source` is
    empty for chunks that Spark tasks sent."""

    window_ms: Floats
    source: Objects
    target: Objects
    chunks: Ints

    def __len__(self) -> int:
        return len(self.chunks)


@dataclass(frozen=True, eq=False)
class Instance:
    """One process of an operator. Arrays have one value per window of the view: chunks in its ring
    at the window's end, the share of the window in which it worked, chunks that it executed,
    results in its outgoing queue, its weight in percent (NaN where no dispatcher weighs), and its
    signal: 1 where it may send."""

    name: str
    operator: str
    queued: Floats
    busy: Floats
    executed: Floats
    latency: Latencies
    parked: Floats
    weight: Floats
    signal: Floats


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool's instances on one host. `policy` is the number of its latest dispatch policy; `room`
    is how many instances each operator may grow to, where that is known;
    `replay` and `tau_ms` are the latest settings of these names (`techniques.pool.settings`).

    Arrays have one value per window of the view: the timeout after which a chunk is replayed (NaN
    where none), chunks that tasks sent for the first time, chunks that they replayed, replays whose
    result came first, and chunks in the queues that the instances of an operator share."""

    name: str
    host: str
    policy: int
    instances: tuple[Instance, ...]
    sent: Sent
    timeout_ms: Floats
    chunks: Floats
    replayed: Floats
    won: Floats
    shared_queued: Floats
    replay: int = 0
    tau_ms: int = 0
    room: Mapping[str, int] = field(default_factory=dict)

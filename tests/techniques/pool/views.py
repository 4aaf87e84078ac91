"""Views of a job with an operator pool, made up from the numbers that a test is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from techniques.view import WINDOW_MS, Floats, Instance, Latencies, Pool, Sent, View

START_MS = 1_700_000_000_000
PER_SECOND = 1_000 // WINDOW_MS


@dataclass(frozen=True)
class One:
    """An instance: chunks a second, work and wait per chunk, and the tail of their latency: one
    chunk in `tail_every` takes `tail_ms` instead."""

    chunks_per_s: int = 100
    work_ms: float = 3.0
    wait_ms: float = 1.0
    tail_every: int = 0
    tail_ms: float = 0.0
    queued: float = 0.0
    parked: float = 0.0
    weight: float = np.nan
    operator: str = "score"


def instance(at: int, one: One, seconds: int) -> Instance:
    windows = seconds * PER_SECOND
    ends = np.arange(1, windows + 1) * one.chunks_per_s // PER_SECOND
    executed = np.diff(np.concatenate(([0], ends))).astype(np.float64)
    usual_ms = one.work_ms + one.wait_ms
    rows = []
    for window, done in enumerate(executed):
        before = int(ends[window] - done)
        late = sum(
            one.tail_every > 0 and (before + each) % one.tail_every == 0
            for each in range(int(done))
        )
        at_ms = START_MS + window * WINDOW_MS
        rows += [(at_ms, usual_ms, int(done) - late), (at_ms, one.tail_ms, late)]
    told = np.array([row for row in rows if row[2]] or np.empty((0, 3)), dtype=np.float64)
    return Instance(
        name=f"{one.operator}-{at}",
        operator=one.operator,
        queued=np.full(windows, one.queued),
        busy=executed * one.work_ms / WINDOW_MS,
        executed=executed,
        latency=Latencies(told[:, 0], told[:, 1], told[:, 2].astype(np.int64)),
        parked=np.full(windows, one.parked),
        weight=np.full(windows, one.weight),
        signal=np.ones(windows),
    )


def pool(
    instances: Sequence[One],
    seconds: int = 60,
    *,
    name: str = "scores",
    host: str = "node-a",
    policy: int = 0,
    timeout_ms: float = np.nan,
    replayed_per_s: int = 0,
    won_per_s: int = 0,
    shared_queued: float = 0.0,
    tau_ms: int = 0,
    room: Mapping[str, int] = MappingProxyType({}),
) -> Pool:
    windows = seconds * PER_SECOND
    nobody = np.empty(0, dtype=object)
    sent = sum(one.chunks_per_s for one in instances)
    return Pool(
        name=name,
        host=host,
        policy=policy,
        instances=tuple(instance(at, one, seconds) for at, one in enumerate(instances)),
        sent=Sent(np.empty(0), nobody, nobody, np.empty(0, dtype=np.int64)),
        timeout_ms=np.full(windows, timeout_ms),
        chunks=_per_second(sent, windows),
        replayed=_per_second(replayed_per_s, windows),
        won=_per_second(won_per_s, windows),
        shared_queued=np.full(windows, shared_queued),
        tau_ms=tau_ms,
        replay=0 if np.isnan(timeout_ms) else 1,
        room=room,
    )


def view(*pools: Pool, seconds: int = 60) -> View:
    nothing = np.full(seconds * PER_SECOND, np.nan)
    queues = {
        f"{each.name}@{each.host}/{one.operator}/{one.name}": one.queued
        for each in pools
        for one in each.instances
    }
    return View(
        START_MS, nothing, nothing, nothing, nothing, nothing, nothing, queues=queues, pools=pools
    )


def seen(*instances: One, seconds: int = 60) -> View:
    """A job with one pool on one host."""
    return view(pool(instances, seconds), seconds=seconds)


def _per_second(amount: int, windows: int) -> Floats:
    """All of it in the first window of each second, as a batch has it."""
    values = np.zeros(windows)
    values[::PER_SECOND] = amount
    return values

"""The operator pools of a job, window by window."""

from dataclasses import dataclass, field

import numpy as np

from collectors.formats.buckets import middle_us
from collectors.formats.pools import PoolSample
from collectors.formats.wire import WINDOW_MS
from dashboard.series.column_buffer import ColumnBuffer
from dashboard.series.tracks import Tracks
from techniques.view import Floats, Instance, Latencies, Pool, Sent

# Rows per window, on average: filled buckets of one instance, pairs of one pool.
MOST_BUCKETS, MOST_PAIRS = 10, 64

LATENCY_TYPES = (np.float64, np.float64, np.int64)
SENT_TYPES = (np.float64, object, object, np.int64)


@dataclass
class _Kept:
    """What is kept of one pool on one host."""

    policy: int
    sent: ColumnBuffer
    # By instance: its operator and its latency buckets.
    latencies: dict[str, tuple[str, ColumnBuffer]] = field(default_factory=dict)


class PoolHistory:
    def __init__(self, windows: int) -> None:
        self._windows = windows
        # Keys are pool, host, instance and metric ("queued", "busy", "executed").
        self._tracks: Tracks[tuple[str, str, str, str]] = Tracks(windows)
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._names: dict[tuple[object, ...], list[str]] = {}

    def move_to(self, after: int) -> None:
        self._tracks.move_to(after)

    def take(self, window: int, pools: tuple[PoolSample, ...]) -> None:
        at, window_ms = self._tracks.place(window), window * WINDOW_MS
        for pool in pools:
            place = pool.name, pool.host
            if (kept := self._kept.get(place)) is None:
                sent = ColumnBuffer(SENT_TYPES, MOST_PAIRS * self._windows)
                kept = self._kept[place] = _Kept(pool.policy, sent)
            kept.policy = pool.policy
            names = self._names_of(pool)
            for name, sample in zip(names, pool.instances, strict=True):
                of = self._tracks.of
                of((*place, name, "queued"))[at] = sample.queued
                of((*place, name, "busy"))[at] = sample.busy_us / (WINDOW_MS * 1000)
                of((*place, name, "executed"))[at] = sample.executed
                if name not in kept.latencies:
                    most = MOST_BUCKETS * self._windows
                    held = ColumnBuffer(LATENCY_TYPES, most)
                    kept.latencies[name] = pool.operators[sample.operator], held
                counts = sample.latency.counts.items()
                kept.latencies[name][1].add(
                    [(window_ms, middle_us(bucket) / 1000, count) for bucket, count in counts]
                )
            known = len(names)
            kept.sent.add(
                [
                    (
                        window_ms,
                        names[each.source - 1] if each.source else "",
                        names[each.instance],
                        each.chunks,
                    )
                    for each in pool.sent
                    if each.source <= known and each.instance < known
                ]
            )

    def drop_before(self, oldest_ms: float) -> None:
        """Drops old rows, and the pools and instances without any recent window."""
        there = {key[:3] for key in self._tracks}
        for place, kept in list(self._kept.items()):
            for name in [each for each in kept.latencies if (*place, each) not in there]:
                del kept.latencies[name]
            if not kept.latencies:
                del self._kept[place]
            kept.sent.drop_before(oldest_ms)
            for _, held in kept.latencies.values():
                held.drop_before(oldest_ms)

    def pools(self, windows: int) -> tuple[Pool, ...]:
        return tuple(
            Pool(
                name=pool,
                host=host,
                policy=kept.policy,
                instances=tuple(
                    Instance(
                        name,
                        operator,
                        queued=self._tracks.last((pool, host, name, "queued"), windows),
                        busy=self._tracks.last((pool, host, name, "busy"), windows),
                        executed=self._tracks.last((pool, host, name, "executed"), windows),
                        latency=Latencies(*held.columns()),
                    )
                    for name, (operator, held) in kept.latencies.items()
                ),
                sent=Sent(*kept.sent.columns()),
            )
            for (pool, host), kept in sorted(self._kept.items())
        )

    def _names_of(self, pool: PoolSample) -> list[str]:
        """The names of the pool's instances, cached: they are the same in thousands of windows."""
        key = pool.operators, *[each.operator for each in pool.instances]
        if key not in self._names:
            self._names = {key: [pool.instance_name(at) for at in range(len(pool.instances))]}
        return self._names[key]


def queues(pools: tuple[Pool, ...]) -> dict[str, Floats]:
    """Queue lengths by instance; siblings (same pool and operator) share all but the last part."""
    return {
        f"{pool.name}@{pool.host}/{each.operator}/{each.name}": each.queued
        for pool in pools
        for each in pool.instances
    }

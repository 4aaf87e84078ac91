"""The operator pools of a job, window by window."""

from dataclasses import dataclass, field

import numpy as np

from collectors.formats.buckets import middle_us
from collectors.formats.pools import InstanceSample, PoolSample
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

    newest: PoolSample
    sent: ColumnBuffer
    # By instance: its operator and its latency buckets.
    latencies: dict[str, tuple[str, ColumnBuffer]] = field(default_factory=dict)


class PoolHistory:
    def __init__(self, windows: int) -> None:
        self._windows = windows
        # Keys are pool, host, instance ("" for the pool as a whole) and metric.
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
                kept = self._kept[place] = _Kept(pool, sent)
            kept.newest = pool
            self._put(at, (*place, ""), _pool_values(pool))
            names = self._names_of(pool)
            for name, sample in zip(names, pool.instances, strict=True):
                self._put(at, (*place, name), _instance_values(sample))
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
        return tuple(self._pool(place, self._kept[place], windows) for place in sorted(self._kept))

    def _pool(self, place: tuple[str, str], kept: _Kept, windows: int) -> Pool:
        def last(metric: str, instance: str = "") -> Floats:
            return self._tracks.last((*place, instance, metric), windows)

        # One that left is no instance any more, whatever it did before.
        there = set(self._names_of(kept.newest))
        return Pool(
            name=kept.newest.name,
            host=kept.newest.host,
            policy=kept.newest.policy,
            instances=tuple(
                Instance(
                    name,
                    operator,
                    queued=last("queued", name),
                    busy=last("busy", name),
                    executed=last("executed", name),
                    latency=Latencies(*held.columns()),
                    parked=last("parked", name),
                    weight=last("weight", name),
                    signal=last("signal", name),
                )
                for name, (operator, held) in kept.latencies.items()
                if name in there
            ),
            sent=Sent(*kept.sent.columns()),
            timeout_ms=last("timeout_ms"),
            chunks=last("chunks"),
            replayed=last("replayed"),
            won=last("won"),
            shared_queued=last("shared_queued"),
            replay=kept.newest.replay,
            tau_ms=kept.newest.tau_ms,
            room=_room(kept.newest),
        )

    def _put(self, at: int, of: tuple[str, str, str], values: dict[str, float]) -> None:
        for metric, value in values.items():
            self._tracks.of((*of, metric))[at] = value

    def _names_of(self, pool: PoolSample) -> list[str]:
        """The names of the pool's instances, cached: they are the same in thousands of windows."""
        key = pool.operators, *[each.operator for each in pool.instances]
        if key not in self._names:
            self._names = {key: [pool.instance_name(at) for at in range(len(pool.instances))]}
        return self._names[key]


def _room(pool: PoolSample) -> dict[str, int]:
    told = zip(pool.operators, pool.room, strict=True) if pool.room else ()
    return {operator: most for operator, most in told if most}


def _pool_values(pool: PoolSample) -> dict[str, float]:
    return {
        "timeout_ms": pool.timeout_us / 1000 if pool.timeout_us else np.nan,
        "chunks": pool.chunks_sent,
        "replayed": pool.replayed,
        "won": pool.replays_won,
        "shared_queued": sum(pool.shared_queued),
    }


def _instance_values(sample: InstanceSample) -> dict[str, float]:
    return {
        "queued": sample.queued,
        "busy": sample.busy_us / (WINDOW_MS * 1000),
        "executed": sample.executed,
        "parked": sample.parked,
        "weight": sample.weight / 100 if sample.weight else np.nan,
        "signal": sample.signal,
    }


def queues(pools: tuple[Pool, ...]) -> dict[str, Floats]:
    """Queue lengths by instance; siblings (same pool and operator) share all but the last part."""
    return {
        f"{pool.name}@{pool.host}/{each.operator}/{each.name}": each.queued
        for pool in pools
        for each in pool.instances
    }

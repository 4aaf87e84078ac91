"""Merges what the executors of an application reported about pools in one window."""

from collections.abc import Iterable
from dataclasses import replace

from collectors.formats.buckets import merged
from collectors.formats.parts import UsedPool
from collectors.formats.pools import InstanceSample, PoolSample, Sent


def joined(told: Iterable[UsedPool]) -> tuple[UsedPool, ...]:
    """Returns each pool once, by name and host.

    Only one executor of a host reports a pool at a time. So if two report it in one window, they
    report different parts of the window: levels are taken from the later one, amounts are added.
    """
    found: dict[tuple[str, str], UsedPool] = {}
    for used in told:
        key = (used.pool.name, used.pool.host)
        if before := found.get(key):
            used = UsedPool(_both(before.pool, used.pool), before.queries | used.queries)
        found[key] = used
    return tuple(found[key] for key in sorted(found))


def used_by(query_id: str, pools: Iterable[UsedPool]) -> tuple[PoolSample, ...]:
    """Returns the query's pools. A shared pool counts in full for each query that uses it, because
    chunks do not say which query they belong to."""
    return tuple(used.pool for used in pools if query_id in used.queries)


def _both(before: PoolSample, last: PoolSample) -> PoolSample:
    if [one.operator for one in before.instances] != [one.operator for one in last.instances]:
        return last  # the pool was replaced by one with other operators
    chunks: dict[tuple[int, int], int] = {}
    for sent in (*before.sent, *last.sent):
        pair = (sent.instance, sent.source)
        chunks[pair] = chunks.get(pair, 0) + sent.chunks
    return replace(
        last,
        instances=tuple(map(_sum, before.instances, last.instances)),
        sent=tuple(
            Sent(source, instance, many) for (instance, source), many in sorted(chunks.items())
        ),
        chunks_sent=before.chunks_sent + last.chunks_sent,
        replayed=before.replayed + last.replayed,
        replays_won=before.replays_won + last.replays_won,
        results_dropped=before.results_dropped + last.results_dropped,
    )


def _sum(before: InstanceSample, last: InstanceSample) -> InstanceSample:
    return replace(
        last,
        executed=before.executed + last.executed,
        failed=before.failed + last.failed,
        rows_in=before.rows_in + last.rows_in,
        rows_out=before.rows_out + last.rows_out,
        busy_us=before.busy_us + last.busy_us,
        latency=merged((before.latency, last.latency)),
        dropped=before.dropped + last.dropped,
    )

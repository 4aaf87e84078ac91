"""The pools of one window, as all executors of an application told them."""

from collections.abc import Iterable
from dataclasses import replace

from collectors.formats.buckets import merged
from collectors.formats.pools import InstanceSample, PoolSample, Sent


def joined(told: Iterable[PoolSample]) -> tuple[PoolSample, ...]:
    """Each pool once, by name and host.

    Of a host one executor tells at a time, so two that tell of a pool in one window tell of
    different parts of it: the levels are those that came last, the amounts are of both.
    """
    found: dict[tuple[str, str], PoolSample] = {}
    for pool in told:
        key = (pool.name, pool.host)
        before = found.get(key)
        found[key] = _both(before, pool) if before else pool
    return tuple(found[key] for key in sorted(found))


def _both(before: PoolSample, last: PoolSample) -> PoolSample:
    if [one.operator for one in before.instances] != [one.operator for one in last.instances]:
        return last  # a pool that was made anew, and otherwise
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
    )

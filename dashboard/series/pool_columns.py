"""Operator pools as columns: one row per window for each of their instances."""

from collections.abc import Sequence
from typing import Any

from collectors.formats.pools import InstanceSample, PoolSample
from collectors.formats.wire import WINDOW_MS, Frame
from techniques.pool import policies
from techniques.pool.settings import Replay

Key = tuple[str, str]

REPLAYS = {int(each): each.name.lower() for each in Replay}


def columns(frames: Sequence[Frame]) -> list[dict[str, Any]]:
    """One dict per pool and host. Its instances are those of its last window; those that came since
    have no values before that, and of those that went nothing is said."""
    rows: list[dict[Key, PoolSample]] = [
        {(pool.name, pool.host): pool for pool in frame.pools} for frame in frames
    ]
    last: dict[Key, PoolSample] = {key: pool for row in rows for key, pool in row.items()}
    return [_pool(last[key], [row.get(key) for row in rows]) for key in sorted(last)]


def _pool(last: PoolSample, rows: Sequence[PoolSample | None]) -> dict[str, Any]:
    # By name: where an operator of a chain has fewer instances, those after it have other places.
    by_name = _by_name(rows)
    return {
        "name": last.name,
        "host": last.host,
        "policy": policies.name_of(last.policy),
        "operators": list(last.operators),
        "replaced": last.replaced,
        "handed_out_again": last.handed_out_again,
        # A number that only a later Curtail knows is shown as off.
        "replay": REPLAYS.get(last.replay, REPLAYS[Replay.OFF]),
        "tau_ms": last.tau_ms,
        "held_chunks": [row.held_chunks if row else None for row in rows],
        "timeout": [row.timeout_us / 1000 if row and row.timeout_us else None for row in rows],
        "sent": [row.chunks_sent if row else None for row in rows],
        "replayed": [row.replayed if row else None for row in rows],
        "won": [row.replays_won if row else None for row in rows],
        "shared_queued": [sum(row.shared_queued) if row else None for row in rows],
        "instances": [_instance(last, number, by_name) for number in range(len(last.instances))],
    }


def _by_name(rows: Sequence[PoolSample | None]) -> list[dict[str, InstanceSample]]:
    named: dict[tuple[object, ...], list[str]] = {}
    found: list[dict[str, InstanceSample]] = []
    for row in rows:
        if row is None:
            found.append({})
            continue
        shape = row.operators, *[each.operator for each in row.instances]
        if shape not in named:
            named[shape] = [row.instance_name(number) for number in range(len(row.instances))]
        found.append(dict(zip(named[shape], row.instances, strict=True)))
    return found


def _instance(
    last: PoolSample, number: int, by_name: Sequence[dict[str, InstanceSample]]
) -> dict[str, Any]:
    name = last.instance_name(number)
    own = [row.get(name) for row in by_name]
    return {
        "name": name,
        "operator": last.operators[last.instances[number].operator],
        "state": last.instances[number].state.name.lower(),
        "queued": [each.queued if each else None for each in own],
        "busy": [_busy(each) if each else None for each in own],
        "executed": [each.executed if each else None for each in own],
        "p99": [_p99_ms(each) if each else None for each in own],
        "parked": [each.parked if each else None for each in own],
        "weight": [each.weight / 100 if each and each.weight else None for each in own],
        "signal": [each.signal if each else None for each in own],
    }


def _busy(each: InstanceSample) -> float:
    """The busy time of an instance in percent of the window."""
    return min(100.0, each.busy_us / (WINDOW_MS * 10))


def _p99_ms(each: InstanceSample) -> float | None:
    [p99_us] = each.latency.quantiles_us([0.99])
    return None if p99_us is None else round(p99_us / 1000, 3)

"""What a made-up job tells once a second: memory, lag and state, the same for the same second."""

import math
from typing import Any

GIB = 2**30
MIB = 2**20
PARTITIONS = 12
Json = dict[str, Any]


def seconds(start_ms: int, end_ms: int, executors: tuple[str, ...] = ("1", "2", "driver")) -> Json:
    """State that grows, a cache that fills, and one partition that falls behind now and then."""
    times = list(range(-(-start_ms // 1000) * 1000, end_ms, 1000))

    def each(value: Any) -> list[Any]:
        return [value(at_ms // 1000) for at_ms in times]

    def per_executor(value: Any) -> dict[str, list[Any]]:
        return {
            name: each(lambda second, i=i: round(value(second, i)))
            for i, name in enumerate(executors)
        }

    with_stores = tuple(name for name in executors if name != "driver")
    stores = {
        name: per_executor(value)
        for name, value in {
            "rocksdb_cache": lambda s, i: (380 + 30 * i + 60 * wave(s, 240)) * MIB,
            "rocksdb_pinned": lambda s, i: (24 + 4 * i) * MIB,
            "rocksdb_memtables": lambda s, i: (64 + (s * 3 + 20 * i) % 96) * MIB,
            "rocksdb_readers": lambda s, i: 9 * MIB,
        }.items()
    }
    behind = each(lambda second: second % 60 >= 35)
    return {
        "t": times,
        "memory": per_executor(lambda s, i: (5.2 + 0.4 * i + 0.3 * wave(s, 120)) * GIB),
        "reclaimable": per_executor(lambda s, i: 0.4 * GIB),
        "memory_limit": per_executor(lambda s, i: 6.5 * GIB),
        "resident": per_executor(lambda s, i: (4.4 + 0.4 * i + 0.3 * wave(s, 120)) * GIB),
        **{
            column: {name: values for name, values in told.items() if name in with_stores}
            for column, told in stores.items()
        },
        "state_rows": {
            "0": each(lambda second: 4_000_000 + (second % 3_600) * 900),
            "1": each(lambda second: 250_000 + (second % 60) * 400),
        },
        "state_bytes": {
            "0": each(lambda second: 850 * MIB + (second % 3_600) * 160_000),
            "1": each(lambda second: 60 * MIB + (second % 60) * 90_000),
        },
        "operators": {"0": "stateStoreSave", "1": "dedupe"},
        "lag_ms": each(lambda second: 900 + max(0, second % 60 - 35) * 820),
        "lag_basis": ["offsets" for _ in times],
        "lag_partitions": [PARTITIONS for _ in times],
        "lag_rows": {
            f"orders-{number}": [
                (90 + 12 * number + (4_000 if late and number == 3 else 0)) for late in behind
            ]
            for number in range(8)
        },
    }


def wave(second: int, period: int) -> float:
    return math.sin(2 * math.pi * second / period)

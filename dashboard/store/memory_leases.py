"""Shard leases in this process's memory, for tests: does the same as the script of
`dashboard.store.redis`."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True)
class _Held:
    owner: str
    since_ms: int
    until_ms: int


class MemoryLeases:
    def __init__(self) -> None:
        self._owners: dict[str, int] = {}
        self._held: dict[int, _Held] = {}
        self._lock = Lock()

    def hold(self, owner: str, shards: int, lasting_ms: int) -> Mapping[int, int]:
        now_ms = time.monotonic_ns() // 1_000_000
        until_ms = now_ms + lasting_ms
        with self._lock:
            self._owners = {name: ms for name, ms in self._owners.items() if ms > now_ms}
            self._owners[owner] = until_ms
            share = math.ceil(shards / len(self._owners))
            held = {shard: each for shard, each in self._held.items() if shard < shards}
            mine = sorted(shard for shard, each in held.items() if each.owner == owner)
            for shard in mine[share:]:
                del self._held[shard]
            taken = {shard for shard, each in held.items() if each.until_ms > now_ms}
            free = [shard for shard in range(shards) if shard not in {*taken, *mine}]
            since_ms = {shard: self._held[shard].since_ms for shard in mine[:share]}
            since_ms |= dict.fromkeys(free[: share - len(since_ms)], now_ms)
            self._held |= {shard: _Held(owner, ms, until_ms) for shard, ms in since_ms.items()}
            return since_ms

    def let_go(self, owner: str) -> None:
        with self._lock:
            self._owners.pop(owner, None)
            self._held = {s: each for s, each in self._held.items() if each.owner != owner}

"""The driver's knowledge of its application: executors, operator pools, sinks, places of state.

Realizers get it as a frozen `JobFacts`. `version` rises whenever something changes that a realizer
could see, so that orders are composed anew then and only then.
"""

from collections.abc import Iterable
from typing import TypeVar

from collectors.formats.parts import UsedPool
from techniques.orders import Address, ExecutorFacts, JobFacts, Place, PoolFacts

K = TypeVar("K")
V = TypeVar("V")

# The executor id that Spark gives the driver; in local mode the driver is the only executor.
DRIVER = "driver"


class Facts:
    def __init__(self) -> None:
        self.version = 0
        self._hosts: dict[str, str] = {}
        self._leaving: set[str] = set()
        self._sinks: dict[str, str] = {}
        self._pools: dict[tuple[str, str], tuple[PoolFacts, frozenset[str]]] = {}
        self._partitions: dict[str, dict[tuple[int, int], str]] = {}

    def executor(self, executor_id: str, host: str) -> None:
        self._put(self._hosts, executor_id, host)

    def executor_is_leaving(self, executor_id: str) -> None:
        if executor_id not in self._leaving:
            self._leaving.add(executor_id)
            self.version += 1

    def executor_left(self, executor_id: str) -> None:
        self._leaving.discard(executor_id)
        if self._hosts.pop(executor_id, None) is not None:
            self.version += 1

    def pools(self, told: Iterable[UsedPool]) -> None:
        for used in told:
            pool = used.pool
            found = PoolFacts(
                pool.name,
                pool.host,
                tuple(pool.operators),
                tuple(each.operator for each in pool.instances),
            )
            self._put(self._pools, (pool.host, pool.name), (found, used.queries))

    def sink(self, run_id: str, description: str) -> None:
        self._put(self._sinks, run_id, description)

    def partition(self, run_id: str, operator: int, partition: int, executor_id: str) -> None:
        self._put(self._partitions.setdefault(run_id, {}), (operator, partition), executor_id)

    def place_of(self, run_id: str, operator: int, partition: int) -> str | None:
        """Returns the executor that had the state partition last; None if that is not known."""
        return self._partitions.get(run_id, {}).get((operator, partition))

    def forget(self, run_id: str) -> None:
        self._sinks.pop(run_id, None)
        if self._partitions.pop(run_id, None) is not None:
            self.version += 1

    def of(self, query_id: str, run_id: str) -> JobFacts:
        executors = {who: host for who, host in self._hosts.items() if self._is_executor(who)}
        return JobFacts(
            query_id=query_id,
            run_id=run_id,
            executors=tuple(
                ExecutorFacts(who, executors[who], who in self._leaving)
                for who in sorted(executors)
            ),
            pools=tuple(
                pool for _, (pool, queries) in sorted(self._pools.items()) if query_id in queries
            ),
            partitions=dict(self._partitions.get(run_id, {})),
            sink=self._sinks.get(run_id, ""),
        )

    def reaches(self, to: Address, executor_id: str) -> bool:
        """Whether this JVM is among those that an order for `to` is meant for."""
        match to.place:
            case Place.DRIVER:
                return executor_id == DRIVER
            case Place.EXECUTORS:
                return self._is_executor(executor_id)
            case Place.EXECUTOR:
                return executor_id == to.executor
            case Place.POOL:
                host = self._hosts.get(executor_id)
                return self._is_executor(executor_id) and host == to.host

    def _is_executor(self, executor_id: str) -> bool:
        return executor_id != DRIVER or len(self._hosts) == 1

    def _put(self, into: dict[K, V], key: K, value: V) -> None:
        if into.get(key) != value:
            into[key] = value
            self.version += 1

"""A stateful query on made-up executors, batch by batch, as a controller would see it.

Executors have cores and a slowness, partitions have work. In each batch an executor hands its
partitions to its cores by their numbers, as Spark does; a task takes work × slowness × noise, and
`load_ms` more when its partition was elsewhere the batch before. A batch begins when the one before
is done, at least `trigger_ms` after its beginning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from techniques.state_balancing.cluster import Cluster, Node
from techniques.state_balancing.prediction import makespan_ms
from techniques.view import WINDOW_MS, Executor, Locality, Tasks, View
from techniques.view.tasks import TYPES

LOOKS_BACK_MS = 120_000
START_MS = 1_700_000_000_000
KIND = 1


@dataclass(frozen=True)
class Machine:
    """`slowness` is how many times as long as its work a task takes."""

    cores: int = 1
    slowness: float = 1.0
    leaving: bool = False


@dataclass
class Simulation:
    """The state of a query that runs; `batch` moves it on."""

    machines: dict[str, Machine]
    work_ms: Mapping[int, float]
    places: dict[int, str]
    trigger_ms: float = 1_000.0
    load_ms: float = 800.0
    noise: float = 0.0
    seed: int = 0
    now_ms: float = float(START_MS)
    makespans_ms: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._rows: list[tuple[Any, ...]] = []
        self._loads: set[int] = set()

    def batch(self) -> None:
        begun_ms, done_ms = self.now_ms, self.now_ms
        for name, machine in self.machines.items():
            free_ms = [begun_ms] * machine.cores
            for partition in sorted(p for p, at in self.places.items() if at == name):
                core = free_ms.index(min(free_ms))
                start_ms = free_ms[core]
                free_ms[core] += self._takes_ms(partition, machine)
                self._rows.append(self._row(partition, name, begun_ms, start_ms, free_ms[core]))
            done_ms = max(done_ms, *free_ms)
        self._loads.clear()
        self.makespans_ms.append(done_ms - begun_ms)
        self.now_ms = max(done_ms, begun_ms + self.trigger_ms)

    def move(self, wishes: Mapping[int, str]) -> list[int]:
        """Carries out wishes as the lever does, from the next batch on; returns what moved."""
        moved = [
            partition
            for partition, to in wishes.items()
            if to in self.machines and self.places.get(partition, to) != to
        ]
        for partition in moved:
            self.places[partition] = wishes[partition]
        self._loads.update(moved)
        return moved

    def view(self) -> View:
        oldest_ms = self.now_ms - LOOKS_BACK_MS
        self._rows = [row for row in self._rows if row[1] >= oldest_ms]
        ended = sorted(self._rows, key=lambda row: row[1])
        columns = zip(*ended, strict=True) if ended else ([],) * len(TYPES)
        start_ms = max(START_MS, int(oldest_ms))
        nothing = np.full(int(self.now_ms - start_ms) // WINDOW_MS, np.nan)
        return View(
            start_ms,
            *(nothing,) * 6,
            tasks=Tasks(*(np.array(c, dtype=t) for c, t in zip(columns, TYPES, strict=True))),
            executors=[
                Executor(name, f"host-{name}", cores=machine.cores, leaving=machine.leaving)
                for name, machine in self.machines.items()
            ],
        )

    @property
    def makespan_ms(self) -> float:
        """Of this placement, without noise and loading."""
        nodes = {
            name: Node(name, "", machine.cores, machine.slowness)
            for name, machine in self.machines.items()
        }
        times_ms = {
            partition: {KIND: work_ms * self.machines[self.places[partition]].slowness}
            for partition, work_ms in self.work_ms.items()
        }
        return makespan_ms(Cluster(nodes, self.places, times_ms, self.trigger_ms))

    def _takes_ms(self, partition: int, machine: Machine) -> float:
        noise = 1 + self.noise * float(self._random.uniform(-1, 1))
        loads_ms = self.load_ms if partition in self._loads else 0.0
        return self.work_ms[partition] * machine.slowness * noise + loads_ms

    def _row(
        self, partition: int, executor: str, begun_ms: float, start_ms: float, end_ms: float
    ) -> tuple[Any, ...]:
        stage, attempt = len(self.makespans_ms), 0
        told = (start_ms, end_ms, executor, stage, attempt, partition, attempt, False, True)
        return *told, Locality.PROCESS_LOCAL, KIND, start_ms - begun_ms, True, False

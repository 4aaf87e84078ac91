"""The model of a cluster: how latency, backlog and CPU load follow from input and parallelism.

Time goes in ticks of `TICK_S`. An operator has threads on machines; each gets an equal part of what
the operator gets (shuffle grouping), and has a queue of its own, without bound: a tuple is executed
or queued, never lost.

*Contention.* A machine has C cores. With L threads running or runnable on average, the work of one
takes σ = √(1 + (L/C)²) times as long as on an idle machine: hardly longer while cores are free, L/C
times as long when many threads share them. For demand D < C this is σ = 1/√(1 - (D/C)²), within a
fifth of processor sharing in an M/M/4 queue. A thread wants to run a share a of the time and runs
or waits for a core min(1, a·σ) of it; their sum is L, which is the load that `top` shows. Every
thread takes `POLLING_SHARE` of a core for being there.

*Latency.* A thread is an M/M/1 queue: a tuple takes s·σ/(1 - ρ), with ρ at most `HIGHEST_RHO`. What
is beyond that is a backlog, which takes as long as the thread needs for it, and grows while more
comes in than it can execute. A hop between operators takes `HOP_MS`. A job's latency is the mean of
what its sinks put out.

*Noise.* Speeds of machines and inputs of jobs wander, log-normal and correlated in time.

*A change* of a job's parallelism stops the job for `PAUSE_S`; its backlog is then spread evenly.

What is left out: memory, network and disks as resources, the cost of state that moves, tuples that
expire, back pressure, skewed keys, garbage collection, tail percentiles (only means), and that two
jobs compete for more than cores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from techniques.slo.objective import Objective
from techniques.slo.simulation.topologies import Topology

Floats = NDArray[np.float64]

TICK_S = 5.0
PAUSE_S = 5.0
HOP_MS = 1.0
POLLING_SHARE = 0.01
HIGHEST_RHO = 0.95
# How far speeds and inputs wander (of their logarithm), and how long they remember.
SPEED_SIGMA, SPEED_TAU_S = 0.03, 300.0
INPUT_SIGMA, INPUT_TAU_S = 0.05, 60.0
_ROUNDS_OF_CONTENTION = 3
_TINY = 1e-12


class TooMany(ValueError):
    """More threads than the cluster has places for."""


@dataclass(frozen=True)
class Machines:
    """`places_per_core` limits how many threads a machine may hold."""

    count: int = 10
    cores: int = 8
    places_per_core: int = 8

    @property
    def places(self) -> int:
        return self.count * self.cores * self.places_per_core


@dataclass(frozen=True)
class Job:
    """`threads` is its parallelism when it starts, operator by operator."""

    name: str
    topology: Topology
    objective: Objective
    threads: Mapping[str, int]


@dataclass(frozen=True)
class OperatorSeen:
    """What an operator did in a time, in tuples. `arrived_of` has what came from each parent.
    `execute_ms` is the mean time that a tuple took, waits for a core included, NaN where none was
    executed; `busiest` the share of the time in which its busiest thread executed. `waiting` is its
    backlog at the end."""

    threads: int
    arrived: float
    executed: float
    arrived_of: Mapping[str, float]
    execute_ms: float
    busiest: float
    waiting: float


@dataclass(frozen=True)
class JobSeen:
    """`latency_ms` is NaN where nothing left the job."""

    arrived: float
    latency_ms: float
    operators: Mapping[str, OperatorSeen]


@dataclass(frozen=True)
class Seen:
    seconds: float
    jobs: Mapping[str, JobSeen]
    loads: tuple[float, ...]


class Cluster:
    """Jobs on machines. Mutable: `tick` goes on in time, `resize` changes a job's parallelism."""

    def __init__(
        self,
        machines: Machines,
        jobs: Sequence[Job],
        rng: np.random.Generator | None = None,
    ) -> None:
        self.machines = machines
        self.jobs = tuple(jobs)
        self._rng = rng
        self._layout = _Layout(jobs)
        operators, count = len(self._layout.service_s), machines.count
        self._threads = np.zeros((operators, count))
        self._backlog = np.zeros((operators, count))
        self._first = [0 if rng is None else int(rng.integers(count)) for _ in jobs]
        # Each operator's threads as parts of it, and as divisors.
        self._share = np.zeros((operators, count))
        self._some_threads = np.ones((operators, count))
        self._arriving = np.zeros(operators)
        self._stretch = np.ones(count)
        self._paused_s = np.zeros(len(jobs))
        self._speed, self._input = np.zeros(count), np.zeros(len(jobs))
        self._running: dict[str, Mapping[str, int]] = {}
        self._forget()

    @property
    def threads(self) -> int:
        return int(self._threads.sum())

    def parallelism(self, job: str) -> Mapping[str, int]:
        return self._running[job]

    @property
    def running(self) -> tuple[str, ...]:
        return tuple(self._running)

    def start(self, job: str) -> None:
        at = self._layout.names.index(job)
        self._place(at, self.jobs[at].threads)

    def resize(self, job: str, threads: Mapping[str, int]) -> None:
        """Gives a running job another parallelism; operators that are not named keep theirs."""
        wanted = {**self._running[job], **threads}
        if wanted == self._running[job]:
            return
        at = self._layout.names.index(job)
        self._place(at, wanted)
        self._paused_s[at] = PAUSE_S

    def _place(self, at: int, threads: Mapping[str, int]) -> None:
        """Puts a job's threads on machines in turn, each operator after the one before."""
        name = self._layout.names[at]
        before = sum(self._running.get(name, {}).values())
        places = self.machines.places
        if self.threads - before + sum(threads.values()) > places:
            raise TooMany(f"{name}: the cluster has places for {places} threads")
        if min(threads.values()) < 1:
            raise ValueError(f"{name}: an operator has at least one thread")
        machine, rows = self._first[at], self._layout.rows[at]
        for row, count in zip(
            rows, (threads[it] for it in self._layout.operators[at]), strict=True
        ):
            self._threads[row] = spread(count, self.machines.count, machine)
            self._backlog[row] = self._backlog[row].sum() * self._threads[row] / count
            machine += count
        self._running[name] = dict(threads)
        self._some_threads = np.maximum(self._threads, 1.0)
        self._share = self._threads / np.maximum(self._threads.sum(axis=1, keepdims=True), 1.0)

    def tick(self, rates_per_s: Mapping[str, float]) -> None:
        """Goes on by `TICK_S` with so many tuples a second into each running job."""
        layout, dt = self._layout, TICK_S
        self._wander()
        given = [rates_per_s.get(it, 0.0) if it in self._running else 0.0 for it in layout.names]
        rates = np.array(given, dtype=np.float64) * np.exp(self._input)
        runs = np.clip(1 - self._paused_s / dt, 0.0, 1.0)[layout.job, None]
        self._paused_s = np.maximum(self._paused_s - dt, 0.0)

        work_s = layout.service_s[:, None] / np.exp(self._speed)
        source_rates = rates[layout.job] * layout.source_share
        arriving = np.where(layout.is_source, source_rates, self._arriving)
        # Of each thread: the part of the time in which it would run if it had a core for itself.
        wanted = (arriving[:, None] * self._share + self._backlog / dt) * work_s
        wanted = np.minimum(1.0, wanted / self._some_threads) * runs
        loads = self._contend(wanted)
        took_s = work_s * self._stretch

        capacity = self._threads / took_s * runs * dt
        arrived, executed = np.zeros_like(capacity), np.zeros_like(capacity)
        before = self._backlog
        sent = np.zeros(len(work_s))
        for level, routes in zip(layout.levels, layout.routes_to, strict=True):
            comes = source_rates[level] * dt + routes @ sent
            arrived[level] = comes[:, None] * self._share[level]
            executed[level] = np.minimum(arrived[level] + before[level], capacity[level])
            sent[level] = executed[level].sum(axis=1) * layout.selectivity[level]
        self._backlog = before + arrived - executed
        self._arriving = arrived.sum(axis=1) / dt
        waiting = (before + self._backlog) / 2
        self._remember(arrived, executed, sent, took_s, waiting, rates, loads)

    def _wander(self) -> None:
        if self._rng is None:
            return
        for state, sigma, tau_s in (
            (self._speed, SPEED_SIGMA, SPEED_TAU_S),
            (self._input, INPUT_SIGMA, INPUT_TAU_S),
        ):
            kept = np.exp(-TICK_S / tau_s)
            state *= kept
            state += sigma * np.sqrt(1 - kept**2) * self._rng.standard_normal(len(state))

    def _contend(self, wanted: Floats) -> Floats:
        """Returns each machine's load, and keeps by how much it stretches the work."""
        polling = POLLING_SHARE * self._threads.sum(axis=0)
        for _ in range(_ROUNDS_OF_CONTENTION):
            busy = np.minimum(1.0, wanted * self._stretch)
            loads: Floats = (self._threads * busy).sum(axis=0)
            loads += polling * self._stretch
            self._stretch = np.sqrt(1 + (loads / self.machines.cores) ** 2)
        return loads

    def _remember(
        self,
        arrived: Floats,
        executed: Floats,
        sent: Floats,
        took_s: Floats,
        waiting: Floats,
        rates: Floats,
        loads: Floats,
    ) -> None:
        layout = self._layout
        thread_s = took_s / self._some_threads
        rho = np.minimum(arrived * thread_s / TICK_S, HIGHEST_RHO)
        delays_ms = 1e3 * (took_s / (1 - rho) + waiting * thread_s)
        flows = executed.sum(axis=1)
        delay_ms = (delays_ms * executed).sum(axis=1) / np.maximum(flows, _TINY)
        # What leaves an operator has waited in all operators on its way.
        latency_ms = np.zeros(len(flows))
        for level, routes in zip(layout.levels, layout.routes_to, strict=True):
            came = np.maximum(routes @ sent, _TINY)
            latency_ms[level] = delay_ms[level] + routes @ (sent * latency_ms) / came
        latency_ms += layout.hops * HOP_MS
        out = flows * layout.is_sink
        self._out += np.bincount(layout.job, out, len(self.jobs))
        self._out_ms += np.bincount(layout.job, latency_ms * out, len(self.jobs))
        self._arrived += arrived
        self._executed += executed
        self._busy_s += executed * took_s
        self._sent += sent
        self._came += rates * TICK_S
        self._loads += loads * TICK_S
        self._seconds += TICK_S

    def _forget(self) -> None:
        shape, jobs = self._threads.shape, len(self.jobs)
        self._out, self._out_ms, self._came = np.zeros(jobs), np.zeros(jobs), np.zeros(jobs)
        self._arrived, self._executed = np.zeros(shape), np.zeros(shape)
        self._busy_s, self._sent = np.zeros(shape), np.zeros(shape[0])
        self._loads, self._seconds = np.zeros(shape[1]), 0.0

    def seen(self, with_operators: bool = True) -> Seen:
        """Returns what was to be seen since the last call."""
        with np.errstate(divide="ignore", invalid="ignore"):
            latencies_ms = (self._out_ms / self._out).tolist()
        operators = self._operators_seen() if with_operators else [{} for _ in self.jobs]
        jobs = {
            name: JobSeen(float(self._came[at]), latencies_ms[at], operators[at])
            for at, name in enumerate(self._layout.names)
            if name in self._running
        }
        seen = Seen(self._seconds, jobs, tuple((self._loads / self._seconds).tolist()))
        self._forget()
        return seen

    def _operators_seen(self) -> list[dict[str, OperatorSeen]]:
        layout = self._layout
        executed, busy_s = self._executed.sum(axis=1), self._busy_s.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            execute_ms = 1e3 * busy_s / executed
        busiest = (self._busy_s / self._some_threads).max(axis=1) / self._seconds
        # Lists, because single elements of arrays are slow.
        sent, done = self._sent.tolist(), executed.tolist()
        columns = zip(
            self._threads.sum(axis=1).tolist(),
            self._arrived.sum(axis=1).tolist(),
            done,
            execute_ms.tolist(),
            busiest.tolist(),
            self._backlog.sum(axis=1).tolist(),
            layout.parents,
            strict=True,
        )
        found: list[dict[str, OperatorSeen]] = [{} for _ in layout.names]
        for row, (threads, came, did, took_ms, most, waiting, parents) in enumerate(columns):
            at, name = layout.keys[row]
            found[at][name] = OperatorSeen(
                threads=int(threads),
                arrived=came,
                executed=did,
                arrived_of={it: sent[above] * part for it, above, part in parents},
                execute_ms=took_ms,
                busiest=most,
                waiting=waiting,
            )
        return found


def spread(threads: int, machines: int, first: int) -> Floats:
    """Returns how many of the threads each machine gets, in turn from the first."""
    each, rest = divmod(threads, machines)
    counts = np.full(machines, float(each))
    counts[(first + np.arange(rest)) % machines] += 1
    return counts


class _Layout:
    """All operators of all jobs as rows of one table, by their depth in their topology."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.names = tuple(job.name for job in jobs)
        self.operators = tuple(tuple(each.name for each in job.topology.operators) for job in jobs)
        depths = [_depths(job.topology) for job in jobs]
        deepest = max((max(each.values()) for each in depths), default=0)
        order = [
            (at, each)
            for depth in range(deepest + 1)
            for at, job in enumerate(jobs)
            for each in job.topology.operators
            if depths[at][each.name] == depth
        ]
        row = {(at, each.name): index for index, (at, each) in enumerate(order)}
        self.rows = tuple(
            tuple(row[at, name] for name in names) for at, names in enumerate(self.operators)
        )
        of_level = np.array([depths[at][each.name] for at, each in order])
        self.levels = [
            slice(*np.searchsorted(of_level, (depth, depth + 1)).tolist())
            for depth in range(deepest + 1)
        ]
        self.job = np.array([at for at, _ in order])
        self.service_s = np.array([each.service_ms / 1e3 for _, each in order])
        self.selectivity = np.array([each.selectivity for _, each in order])
        self.is_sink = np.array([each.name in jobs[at].topology.sinks for at, each in order])
        self.hops = np.array([float(depths[at][each.name]) for at, each in order])
        self.source_share = np.array(
            [0.0 if each.parents else 1 / len(jobs[at].topology.sources) for at, each in order]
        )
        self.is_source = self.source_share > 0
        self.keys = [(at, each.name) for at, each in order]
        # Of each row, its parents: name, row, and which part of what it sends comes here.
        self.parents = [
            tuple(
                (parent, row[at, parent], 1 / len(jobs[at].topology.children(parent)))
                for parent in each.parents
            )
            for at, each in order
        ]
        routes = np.zeros((len(order), len(order)))
        for index, parents in enumerate(self.parents):
            for _, above, part in parents:
                routes[index, above] = part
        self.routes_to = [np.ascontiguousarray(routes[level]) for level in self.levels]


def _depths(topology: Topology) -> dict[str, int]:
    depths: dict[str, int] = {}
    for each in topology.operators:
        depths[each.name] = 1 + max((depths[it] for it in each.parents), default=-1)
    return depths

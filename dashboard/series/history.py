"""A job's latest windows as arrays, for detection and controllers; new frames are added to them.

Reading two minutes of frames again every second would cost more than all detectors together, so
the arrays are kept and shifted.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from collectors.formats import latency, metrics, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.latency import Source
from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.series import pool_history
from dashboard.series.column_buffer import ColumnBuffer
from dashboard.series.executor_history import ExecutorHistory
from dashboard.series.heavy_key_history import HeavyKeyHistory
from dashboard.series.interval_history import IntervalHistory
from dashboard.series.pool_history import PoolHistory
from dashboard.series.tracks import Tracks
from techniques.slo.objective import Objective
from techniques.view import BASIC, EVERYTHING, Floats, Reads, Resource, ResourceKind, Traffic, View

# How far back detection, controllers and cards look.
LOOKS_BACK_MS = 120_000

QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
LATENCY = ("records", *QUANTILES)
# Rows of traffic per window, on average: stages that read a shuffle end every few windows.
MOST_PAIRS = 20
TRAFFIC_TYPES = (np.float64, object, object, np.int64)

HOST_CPU = metrics.BY_NAME["host_cpu"].id
RUNNABLE = metrics.BY_NAME["host_runnable"].id
IO_FULL = metrics.BY_NAME["psi_io_full_us"].id
CORES = metrics.BY_NAME["process_cores"].id
# Threads per core from which on a run queue counts as full: one runs, another waits for it.
CROWDED = 2

# Spark's executor id of the driver.
DRIVER = "driver"

# The sections of a frame that hold what is read.
SECTIONS = {
    Reads.SERIES: frozenset(
        (
            *(wire.LATENCY, wire.BATCHES, wire.STAMPED, wire.BACKLOG, wire.TASKS),
            *(wire.WARMING_UP, wire.SINK),
        )
    ),
    Reads.RESOURCES: frozenset((wire.EXECUTORS,)),
    Reads.INTERVALS: frozenset[int](),
    Reads.TASKS: frozenset[int](),
    Reads.POOLS: frozenset((wire.POOLS,)),
    Reads.TRAFFIC: frozenset((wire.TRAFFIC,)),
    Reads.EXECUTORS: frozenset((wire.EXECUTORS, wire.SLOTS)),
    Reads.HEAVY_KEYS: frozenset((wire.HEAVY_KEYS,)),
}


def only(reads: frozenset[Reads]) -> wire.Only:
    """The parts of a frame to decode: decoding all of it would take several times as long."""
    measured = frozenset((HOST_CPU, RUNNABLE, IO_FULL, CORES))
    return wire.Only(
        sections=frozenset[int]().union(*(SECTIONS[each] for each in reads)),
        metrics=measured if Reads.RESOURCES in reads else frozenset(),
    )


# What most readers need.
NEEDS = only(BASIC)


class History:
    """The last `windows` windows; values of lost or missing windows are NaN. Only what is in
    `reads` is kept."""

    def __init__(self, windows: int, reads: frozenset[Reads] = EVERYTHING) -> None:
        self._windows = windows
        self._reads = reads
        # Looked up once and not for every frame: hashing an enum takes longer than the rest.
        self._takes = [take for each, take in self._takers().items() if each in reads]
        self._series: Tracks[str] = Tracks(windows)
        # CPU, I/O and run queue by host, GC by executor.
        self._cpu: Tracks[str] = Tracks(windows)
        self._io: Tracks[str] = Tracks(windows)
        self._run_queue: Tracks[str] = Tracks(windows)
        self._gc: Tracks[str] = Tracks(windows)
        self._pools = PoolHistory(windows)
        self._intervals = IntervalHistory(windows, Reads.TASKS in reads)
        self._executors = ExecutorHistory()
        self._heavy_keys = HeavyKeyHistory()
        self._traffic = ColumnBuffer(TRAFFIC_TYPES, MOST_PAIRS * windows)
        self._first: int | None = None
        self._after = 0
        self._source = Source.NONE
        self._cores: int | None = None
        self._sink = ""

    @property
    def after_ms(self) -> int:
        """The end of the newest known window."""
        return self._after * WINDOW_MS

    def add(self, frames: Sequence[Frame], ended: Iterable[Activity] = ()) -> None:
        """Adds frames newer than all before, oldest first, and the activities that ended.

        Leaves out all windows up to the end of the warm-up, the previous run's included."""
        if warmed_up := max(
            (at for at, each in enumerate(frames, 1) if each.warming_up), default=0
        ):
            self._first = None
            frames = frames[warmed_up:]
        if frames:
            self._move_to(frames[-1].window + 1)
            if self._first is None:
                self._first = frames[0].window
        for frame in frames:
            if self._after - frame.window <= self._windows:
                for take in self._takes:
                    take(frame)
        by_kind: dict[Kind, list[Activity]] = {}
        for each in ended:
            by_kind.setdefault(each.kind, []).append(each)
        if Reads.INTERVALS in self._reads or Reads.TASKS in self._reads:
            self._intervals.add(by_kind)
        if Reads.RESOURCES in self._reads:
            for pause in by_kind.get(Kind.GC, ()):
                self._stop(pause)
        self._drop_before(max(self._first or 0, self._after - self._windows) * WINDOW_MS)

    def view(self, objective: Objective | None = None, objective_ms: float | None = None) -> View:
        """The view of this moment, valid until `add`, which may overwrite its arrays."""
        known = 0 if self._first is None else min(self._windows, self._after - self._first)
        series = self._series
        pools = self._pools.pools(known)
        return View(
            start_ms=(self._after - known) * WINDOW_MS,
            records=series.last("records", known),
            p50_ms=series.last("p50", known),
            p99_ms=series.last("p99", known),
            p999_ms=series.last("p999", known),
            backlog_rows=series.last("backlog", known),
            waiting_tasks=series.last("waiting", known),
            use={
                Resource(kind, where): used.last(where, known)
                for kind, used in self._use()
                for where in used
            },
            queues=pool_history.queues(pools),
            intervals=self._intervals.intervals(),
            cores=self._cores,
            tasks=self._intervals.tasks(),
            pools=pools,
            traffic=Traffic(*self._traffic.columns()),
            executors=self._executors.executors(),
            objective=objective,
            objective_ms=objective_ms,
            sink=self._sink,
            heavy_keys=self._heavy_keys.keys(),
        )

    def _move_to(self, after: int) -> None:
        self._after = after
        self._series.move_to(after)
        for _, used in self._use():
            used.move_to(after)
        self._pools.move_to(after)

    def _drop_before(self, oldest_ms: int) -> None:
        self._intervals.drop_before(oldest_ms)
        self._pools.drop_before(oldest_ms)
        self._executors.drop_before(oldest_ms)
        self._heavy_keys.drop_before(oldest_ms)
        self._traffic.drop_before(oldest_ms)

    def _takers(self) -> dict[Reads, Callable[[Frame], None]]:
        """The method that takes each part of a frame; intervals and tasks are not in frames."""
        return {
            Reads.SERIES: self._take_series,
            Reads.RESOURCES: self._take_use,
            Reads.POOLS: self._take_pools,
            Reads.TRAFFIC: self._take_traffic,
            Reads.EXECUTORS: self._take_executors,
            Reads.HEAVY_KEYS: self._take_heavy_keys,
        }

    def _use(self) -> tuple[tuple[ResourceKind, Tracks[str]], ...]:
        return (
            (ResourceKind.CPU, self._cpu),
            (ResourceKind.IO, self._io),
            (ResourceKind.GC, self._gc),
            (ResourceKind.RUN_QUEUE, self._run_queue),
        )

    def _take_pools(self, frame: Frame) -> None:
        if frame.pools:
            self._pools.take(frame.window, frame.pools)

    def _take_executors(self, frame: Frame) -> None:
        self._executors.take(frame.window, frame.executors, frame.slots)

    def _take_heavy_keys(self, frame: Frame) -> None:
        self._heavy_keys.take(frame)

    def _take_traffic(self, frame: Frame) -> None:
        self._traffic.add(
            [
                (frame.start_ms, each.from_executor, each.to_executor, each.shuffle_bytes)
                for each in frame.traffic
            ]
        )

    def _take_series(self, frame: Frame) -> None:
        at, of = self._series.place(frame.window), self._series.of
        before, self._source = self._source, latency.source_of((frame,), self._source)
        if before != self._source == Source.RECORD:
            # The values so far are durations of batches, not latencies of records.
            for name in LATENCY:
                of(name)[:] = np.nan
        told = latency.of(frame, self._source)
        of("records")[at] = count = told.count
        if count:
            quantiles = told.quantiles_us(QUANTILES.values())
            for name, us in zip(QUANTILES, quantiles, strict=True):
                of(name)[at] = np.nan if us is None else us / 1000
        if frame.backlog_rows is not None:
            of("backlog")[at] = frame.backlog_rows
        of("waiting")[at] = frame.tasks.waiting
        self._sink = frame.sink or self._sink

    def _take_use(self, frame: Frame) -> None:
        threads: dict[str, int] = {}
        cores: dict[str, int] = {}
        at = self._cpu.place(frame.window)
        for sample in frame.executors:
            measured, host = sample.metrics, sample.host
            if (permille := measured.get(HOST_CPU)) is not None:
                _raise(self._cpu.of(host), at, permille / 1000)
            if (us := measured.get(IO_FULL)) is not None:
                _raise(self._io.of(host), at, us / (WINDOW_MS * 1000))
            if (runnable := measured.get(RUNNABLE)) is not None:
                threads[host] = max(runnable, threads.get(host, 0))
            # A container may see fewer cores than its host has: the largest number is the closest.
            cores[host] = max(measured.get(CORES, 0), cores.get(host, 0))
        for host, runnable in threads.items():
            if cores[host]:
                self._run_queue.of(host)[at] = runnable / (CROWDED * cores[host])
        self._cores = _most_cores(frame.executors) or self._cores

    def _stop(self, pause: Activity) -> None:
        """Adds a GC pause to the share of each window in which the executor's threads stood still.

        GC is unknown (NaN) until the first pause; from then on windows without one count as 0."""
        values = self._gc.last(pause.executor_id, self._windows)
        values[np.isnan(values)] = 0.0
        oldest_ms = (self._after - self._windows) * WINDOW_MS
        start_ms, end_ms = pause.start_us / 1000 - oldest_ms, pause.end_us / 1000 - oldest_ms
        first = max(0, int(start_ms // WINDOW_MS))
        for at in range(first, min(self._windows, int(end_ms // WINDOW_MS) + 1)):
            begins_ms = at * WINDOW_MS
            inside = min(end_ms, begins_ms + WINDOW_MS) - max(start_ms, begins_ms)
            values[at] += max(0.0, inside) / WINDOW_MS


def _raise(values: Floats, at: int, share: float) -> None:
    """Keeps the highest value, since all executors of a host report it; replaces NaN."""
    if not values[at] >= share:
        values[at] = share


def _most_cores(samples: Sequence[ExecutorSample]) -> int | None:
    """The most cores of an executor; the driver counts only if there is no other."""
    told = {each.executor_id: each.metrics[CORES] for each in samples if CORES in each.metrics}
    return max(
        (cores for who, cores in told.items() if who != DRIVER or len(told) == 1), default=None
    )

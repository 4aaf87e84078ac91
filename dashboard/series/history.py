"""A job's latest windows as arrays that frames are added to: what detection and controllers see.

Reading two minutes of frames anew every second would cost more than all detectors together, so the
arrays are kept and moved along.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from collectors.formats import latency, metrics, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.series.interval_buffer import IntervalBuffer
from techniques.view import Floats, Resource, ResourceKind, View

QUANTILES = (0.5, 0.99, 0.999)
SERIES = ("records", "p50", "p99", "p999", "backlog", "waiting")
# Of one kind, on average.
MOST_INTERVALS_PER_WINDOW = 10

HOST_CPU = metrics.BY_NAME["host_cpu"].id
IO_FULL = metrics.BY_NAME["psi_io_full_us"].id
CORES = metrics.BY_NAME["process_cores"].id

# Spark's name for it.
DRIVER = "driver"

# What a history takes of a frame: reading all of it would take several times as long.
NEEDS = wire.Only(
    sections=frozenset(
        (
            *(wire.LATENCY, wire.BATCHES, wire.BACKLOG, wire.STAMPED, wire.TASKS),
            *(wire.EXECUTORS, wire.WARMING_UP),
        )
    ),
    metrics=frozenset((HOST_CPU, IO_FULL, CORES)),
)


class History:
    """The last `windows` windows; those that were lost or not there yet are not known."""

    def __init__(self, windows: int) -> None:
        self._windows = windows
        # Twice as long as what is kept, so that it need not be moved with every frame.
        self._size = 2 * windows
        self._series = {name: _unknown(self._size) for name in SERIES}
        self._use: dict[ResourceKind, dict[str, Floats]] = {kind: {} for kind in ResourceKind}
        self._held: dict[Kind, IntervalBuffer] = {}
        self._first: int | None = None
        self._after = 0
        # Where in the arrays the window `_after` would be.
        self._end = windows
        self._stamped = False
        self._cores: int | None = None

    @property
    def after_ms(self) -> int:
        """The end of the newest window that is known."""
        return self._after * WINDOW_MS

    def add(self, frames: Sequence[Frame], ended: Iterable[Activity] = ()) -> None:
        """Frames newer than those before, oldest first, and what ended meanwhile.

        What a run did until it had warmed up is left out, and so is the run before it."""
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
            self._take(frame)
        by_kind: dict[Kind, list[Activity]] = {}
        for each in ended:
            by_kind.setdefault(each.kind, []).append(each)
        for kind, news in by_kind.items():
            if kind not in self._held:
                most = MOST_INTERVALS_PER_WINDOW * self._windows
                self._held[kind] = IntervalBuffer(kind.name.lower(), most)
            self._held[kind].add(news)
        for pause in by_kind.get(Kind.GC, ()):
            self._stop(pause)
        for held in self._held.values():
            held.drop_before(max(self._first or 0, self._after - self._windows) * WINDOW_MS)

    def view(self) -> View:
        known = 0 if self._first is None else min(self._windows, self._after - self._first)
        at = slice(self._end - known, self._end)
        series = {name: values[at] for name, values in self._series.items()}
        return View(
            start_ms=(self._after - known) * WINDOW_MS,
            records=series["records"],
            p50_ms=series["p50"],
            p99_ms=series["p99"],
            p999_ms=series["p999"],
            backlog_rows=series["backlog"],
            waiting_tasks=series["waiting"],
            use={
                Resource(kind, where): values[at]
                for kind, used in self._use.items()
                for where, values in used.items()
            },
            intervals={kind.name.lower(): held.intervals() for kind, held in self._held.items()},
            cores=self._cores,
        )

    def _move_to(self, after: int) -> None:
        by = min(after - self._after, self._windows) if self._after else self._windows
        self._after = after
        if self._end + by > self._size:
            self._move_to_front(self._windows - by)
        for values in self._arrays():
            values[self._end : self._end + by] = np.nan
        self._end += by

    def _move_to_front(self, kept: int) -> None:
        for values in self._arrays():
            values[:kept] = values[self._end - kept : self._end]
        self._end = kept
        # Hosts and executors come and go; those long gone are not kept for ever.
        for used in self._use.values():
            for where in [each for each, held in used.items() if np.isnan(held[:kept]).all()]:
                del used[where]

    def _arrays(self) -> Iterator[Floats]:
        yield from self._series.values()
        for used in self._use.values():
            yield from used.values()

    def _take(self, frame: Frame) -> None:
        if self._after - frame.window > self._windows:
            return
        at = self._end - (self._after - frame.window)
        series = self._series
        if frame.stamped and not self._stamped:
            self._stamped = True
            # What was known before came from batches and is no latency of records.
            for name in ("records", "p50", "p99", "p999"):
                series[name][:] = np.nan
        told = frame.latency if self._stamped else latency.of_batches(frame.batches)
        series["records"][at] = count = told.count
        if count:
            for name, us in zip(("p50", "p99", "p999"), told.quantiles_us(QUANTILES), strict=True):
                series[name][at] = np.nan if us is None else us / 1000
        if frame.backlog_rows is not None:
            series["backlog"][at] = frame.backlog_rows
        series["waiting"][at] = frame.tasks.waiting
        for sample in frame.executors:
            if (permille := sample.metrics.get(HOST_CPU)) is not None:
                self._used(ResourceKind.CPU, sample.host, at, permille / 1000)
            if (us := sample.metrics.get(IO_FULL)) is not None:
                self._used(ResourceKind.IO, sample.host, at, us / (WINDOW_MS * 1000))
        self._cores = _most_cores(frame.executors) or self._cores

    def _used(self, kind: ResourceKind, where: str, at: int, share: float) -> None:
        values = self._of(kind, where)
        # Executors of one host report the same host: the highest is taken. NaN is not as high.
        if not values[at] >= share:
            values[at] = share

    def _stop(self, pause: Activity) -> None:
        """The share of each window in which the executor's threads stood still for its collector.

        Windows without a pause are not known to have none until one is told: they count as 0."""
        values = self._of(ResourceKind.GC, pause.executor_id)
        values = values[self._end - self._windows : self._end]
        values[np.isnan(values)] = 0.0
        oldest_ms = (self._after - self._windows) * WINDOW_MS
        start_ms, end_ms = pause.start_us / 1000 - oldest_ms, pause.end_us / 1000 - oldest_ms
        first = max(0, int(start_ms // WINDOW_MS))
        for at in range(first, min(self._windows, int(end_ms // WINDOW_MS) + 1)):
            begins_ms = at * WINDOW_MS
            inside = min(end_ms, begins_ms + WINDOW_MS) - max(start_ms, begins_ms)
            values[at] += max(0.0, inside) / WINDOW_MS

    def _of(self, kind: ResourceKind, where: str) -> Floats:
        used = self._use[kind]
        if where not in used:
            used[where] = _unknown(self._size)
        return used[where]


def _most_cores(samples: Sequence[ExecutorSample]) -> int | None:
    """Of an executor; the driver is one only where there is no other."""
    told = {each.executor_id: each.metrics[CORES] for each in samples if CORES in each.metrics}
    return max(
        (cores for who, cores in told.items() if who != DRIVER or len(told) == 1), default=None
    )


def _unknown(windows: int) -> Floats:
    return np.full(windows, np.nan)

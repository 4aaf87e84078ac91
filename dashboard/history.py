"""A job's latest windows as arrays that frames are added to: what detection and controllers see.

Reading two minutes of frames anew every second would cost more than all detectors together, so the
arrays are kept and moved along.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from collectors import latency, metrics
from collectors.activity import Activity, Kind
from collectors.wire import WINDOW_MS, Frame
from techniques.view import Floats, Interval, Resource, ResourceKind, View

QUANTILES = (0.5, 0.99, 0.999)
SERIES = ("records", "p50", "p99", "p999", "backlog", "waiting")
# Of one kind.
MOST_INTERVALS = 20_000

HOST_CPU = metrics.BY_NAME["host_cpu"].id
IO_FULL = metrics.BY_NAME["psi_io_full_us"].id


class History:
    """The last `windows` windows; those that were lost or not there yet are not known."""

    def __init__(self, windows: int) -> None:
        self._windows = windows
        self._series = {name: _unknown(windows) for name in SERIES}
        self._use: dict[Resource, Floats] = {}
        self._intervals: dict[str, deque[Interval]] = {}
        self._first: int | None = None
        self._after = 0
        self._stamped = False

    @property
    def after_ms(self) -> int:
        """The end of the newest window that is known."""
        return self._after * WINDOW_MS

    def add(self, frames: Sequence[Frame], ended: Iterable[Activity] = ()) -> None:
        """Frames newer than those before, oldest first, and what ended meanwhile."""
        if frames:
            self._move_to(frames[-1].window + 1)
            if self._first is None:
                self._first = frames[0].window
        for frame in frames:
            self._take(frame)
        for each in ended:
            interval = _interval(each)
            held = self._intervals.setdefault(interval.kind, deque(maxlen=MOST_INTERVALS))
            held.append(interval)
            if each.kind is Kind.GC:
                self._stop(interval)
        oldest_ms = (self._after - self._windows) * WINDOW_MS
        for held in self._intervals.values():
            while held and held[0].end_ms < oldest_ms:
                held.popleft()

    def view(self) -> View:
        known = 0 if self._first is None else min(self._windows, self._after - self._first)
        at = slice(self._windows - known, self._windows)
        series = {name: values[at] for name, values in self._series.items()}
        return View(
            start_ms=(self._after - known) * WINDOW_MS,
            records=series["records"],
            p50_ms=series["p50"],
            p99_ms=series["p99"],
            p999_ms=series["p999"],
            backlog_rows=series["backlog"],
            waiting_tasks=series["waiting"],
            use={resource: values[at] for resource, values in self._use.items()},
            intervals={kind: tuple(held) for kind, held in self._intervals.items()},
        )

    def _move_to(self, after: int) -> None:
        by = after - self._after if self._after else self._windows
        self._after = after
        for values in (*self._series.values(), *self._use.values()):
            kept = max(0, self._windows - by)
            values[:kept] = values[self._windows - kept :]
            values[kept:] = np.nan

    def _take(self, frame: Frame) -> None:
        at = self._windows - (self._after - frame.window)
        if at < 0:
            return
        if frame.stamped and not self._stamped:
            self._stamped = True
            # What was known before came from batches and is no latency of records.
            for name in ("records", "p50", "p99", "p999"):
                self._series[name][:] = np.nan
        told = frame.latency if self._stamped else latency.of_batches(frame.batches)
        self._series["records"][at] = told.count
        if told.count:
            for name, us in zip(("p50", "p99", "p999"), told.quantiles_us(QUANTILES), strict=True):
                self._series[name][at] = np.nan if us is None else us / 1000
        if frame.backlog_rows is not None:
            self._series["backlog"][at] = frame.backlog_rows
        self._series["waiting"][at] = frame.tasks.waiting
        for resource, share in _used(frame):
            values = self._of(resource)
            # Executors of one host report the same host: the highest is taken.
            values[at] = share if np.isnan(values[at]) else max(share, values[at])

    def _stop(self, pause: Interval) -> None:
        """The share of each window in which the executor's threads stood still for its collector.

        Windows without a pause are not known to have none until one is told: they count as 0."""
        values = self._of(Resource(ResourceKind.GC, pause.executor))
        values[np.isnan(values)] = 0.0
        oldest_ms = (self._after - self._windows) * WINDOW_MS
        first = max(0, int((pause.start_ms - oldest_ms) // WINDOW_MS))
        for at in range(
            first, min(self._windows, int((pause.end_ms - oldest_ms) // WINDOW_MS) + 1)
        ):
            starts_ms = oldest_ms + at * WINDOW_MS
            inside = min(pause.end_ms, starts_ms + WINDOW_MS) - max(pause.start_ms, starts_ms)
            values[at] += max(0.0, inside) / WINDOW_MS

    def _of(self, resource: Resource) -> Floats:
        if resource not in self._use:
            self._use[resource] = _unknown(self._windows)
        return self._use[resource]


def _unknown(windows: int) -> Floats:
    return np.full(windows, np.nan)


def _used(frame: Frame) -> Iterator[tuple[Resource, float]]:
    for sample in frame.executors:
        if (permille := sample.metrics.get(HOST_CPU)) is not None:
            yield Resource(ResourceKind.CPU, sample.host), permille / 1000
        if (us := sample.metrics.get(IO_FULL)) is not None:
            yield Resource(ResourceKind.IO, sample.host), us / (WINDOW_MS * 1000)


def _interval(each: Activity) -> Interval:
    return Interval(
        kind=each.kind.name.lower(),
        start_ms=each.start_us / 1000,
        end_ms=each.end_us / 1000,
        executor=each.executor_id,
        operator=each.operator,
        partition=each.partition,
        name=each.name,
        input_bytes=each.input_bytes,
    )

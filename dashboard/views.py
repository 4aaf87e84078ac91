"""A job's latest windows as the arrays that detectors and controllers work on."""

from collections.abc import Iterable, Sequence

import numpy as np

from collectors import keys, latency, metrics
from collectors.activity import Activity, Kind
from collectors.latency import Source
from collectors.wire import WINDOW_MS, Frame
from dashboard import activities, windows
from dashboard.store import Store
from techniques.view import Floats, Interval, Resource, ResourceKind, View

LOOKS_BACK_MS = 120_000
QUANTILES = (0.5, 0.99, 0.999)

HOST_CPU = metrics.BY_NAME["host_cpu"].id
IO_FULL = metrics.BY_NAME["psi_io_full_us"].id


async def view(store: Store, job_id: str, now_ms: int) -> View:
    start_ms = now_ms - LOOKS_BACK_MS
    frames, _ = windows.read(await store.entries(keys.frames(job_id), start_ms, now_ms))
    ended, _ = activities.read(await store.entries(keys.activities(job_id), start_ms, now_ms))
    return of(frames, ended)


def of(frames: Sequence[Frame], ended: Iterable[Activity]) -> View:
    """From the first to the last frame; windows that were lost in between are not known."""
    first = frames[0].window if frames else 0
    size = frames[-1].window - first + 1 if frames else 0
    source = latency.source(any(f.stamped for f in frames), any(f.batches for f in frames))
    found = {name: np.full(size, np.nan) for name in ("p50", "p99", "p999", "backlog", "waiting")}
    records = np.zeros(size)
    use: dict[Resource, Floats] = {}
    for frame in frames:
        at = frame.window - first
        told = frame.latency if source == Source.RECORD else latency.of_batches(frame.batches)
        records[at] = told.count
        if told.count:
            for name, us in zip(("p50", "p99", "p999"), told.quantiles_us(QUANTILES), strict=True):
                found[name][at] = np.nan if us is None else us / 1000
        if frame.backlog_rows is not None:
            found["backlog"][at] = frame.backlog_rows
        found["waiting"][at] = frame.tasks.waiting
        for resource, share in _used(frame):
            if resource not in use:
                use[resource] = np.full(size, np.nan)
            use[resource][at] = max(share, np.nan_to_num(use[resource][at]))
    intervals = tuple(_interval(each) for each in ended)
    made = View(
        start_ms=first * WINDOW_MS,
        records=records,
        p50_ms=found["p50"],
        p99_ms=found["p99"],
        p999_ms=found["p999"],
        backlog_rows=found["backlog"],
        waiting_tasks=found["waiting"],
        use=use,
        intervals=intervals,
    )
    use.update(_stopped(made))
    return made


def _used(frame: Frame) -> Iterable[tuple[Resource, float]]:
    for sample in frame.executors:
        if (permille := sample.metrics.get(HOST_CPU)) is not None:
            yield Resource(ResourceKind.CPU, sample.host), permille / 1000
        if (us := sample.metrics.get(IO_FULL)) is not None:
            yield Resource(ResourceKind.IO, sample.host), us / (WINDOW_MS * 1000)


def _stopped(view: View) -> dict[Resource, Floats]:
    """The share of each window in which an executor's threads stood still for its collector."""
    found: dict[Resource, Floats] = {}
    for pause in view.of(Kind.GC.name.lower()):
        resource = Resource(ResourceKind.GC, pause.executor)
        share = found.setdefault(resource, np.zeros(len(view)))
        for first, after in view.windows([pause]):
            for at in range(first, after):
                begins = max(pause.start_ms, view.at_ms(at))
                share[at] += max(0.0, min(pause.end_ms, view.at_ms(at + 1)) - begins) / WINDOW_MS
    return found


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

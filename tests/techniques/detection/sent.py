"""A trace as the collector sends it: frames and activities in the bytes of their formats."""

from collections.abc import Iterator

import numpy as np

from collectors.formats import activity, metrics, wire
from collectors.formats.activity import Activity, Kind, TaskFacts
from collectors.formats.buckets import Histogram
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample
from collectors.formats.wire import WINDOW_MS, Batch, ExecutorSample, Frame, TaskCounts
from techniques.view import Interval, Resource, ResourceKind, View
from tests.factories import RUN_ID

HOST_CPU = metrics.BY_NAME["host_cpu"].id
CORES = metrics.BY_NAME["process_cores"].id
CPU = Resource(ResourceKind.CPU, "node-a")


def frames(view: View) -> Iterator[Frame]:
    for at in range(len(view)):
        window = view.start_ms // WINDOW_MS + at
        cpu = round(float(view.use[CPU][at]) * 1000)
        batches = [
            Batch(int(each.name.split()[1]), round(each.start_ms), round(each.duration_ms), 500)
            for each in view.intervals["batch"]
            if each.end_ms // WINDOW_MS == window
        ]
        yield Frame(
            window=window,
            sequence=at,
            run_id=RUN_ID,
            latency=_latency(view, at),
            stamped=True,
            batches=tuple(batches),
            executors=(ExecutorSample("1", "node-a", {HOST_CPU: cpu, CORES: 4}),),
            backlog_rows=round(float(view.backlog_rows[at])),
            tasks=TaskCounts(waiting=int(view.waiting_tasks[at])),
            pools=_pools(view, at),
        )


def activities(view: View) -> dict[int, list[Activity]]:
    """By the window in which they ended."""
    found: dict[int, list[Activity]] = {}
    for held in view.intervals.values():
        for each in held:
            found.setdefault(int(each.end_ms // WINDOW_MS), []).append(_activity(each))
    return dict(sorted(found.items()))


def entries(view: View) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
    """Of both streams: each window's start and the bytes that stand there."""
    return (
        [(each.start_ms, wire.encode(each)) for each in frames(view)],
        [(window * WINDOW_MS, activity.encode(e)) for window, e in activities(view).items()],
    )


def _latency(view: View, at: int) -> Histogram:
    """With the trace's median, and its p99 as the slowest of a hundred."""
    if np.isnan(view.p99_ms[at]):
        return Histogram()
    p50_us, p99_us = round(view.p50_ms[at] * 1000), round(view.p99_ms[at] * 1000)
    return Histogram.of([p50_us] * 98 + [p99_us] * 2)


def _pools(view: View, at: int) -> tuple[PoolSample, ...]:
    instances = tuple(
        InstanceSample(0, InstanceState.READY, queued=int(lengths[at]))
        for lengths in view.queues.values()
    )
    return (PoolSample("scores", "node-a", 0, ("score",), instances),) if instances else ()


def _activity(each: Interval) -> Activity:
    kind = Kind[each.kind.upper()]
    stage = None
    if kind is Kind.TASK:
        stage = TaskFacts(int(each.name.split()[1]), stateful=True, kind=0, waited_ms=0)
    return Activity(
        kind,
        round(each.start_ms * 1000),
        round(each.end_ms * 1000),
        each.executor,
        each.operator,
        each.partition,
        each.name,
        input_bytes=each.input_bytes,
        task=stage,
    )

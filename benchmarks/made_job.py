"""A made-up job as bytes on its streams, cheap enough for hundreds of jobs.

Four executors with every metric, a batch a second, latencies, tasks, flushes and compactions, a
spike every sixteen seconds. What a second looks like is encoded once; only the head of a frame,
which says its window, is made anew.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import ui_stream
from collectors.formats import activity, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.metrics import BY_NAME, METRICS
from collectors.formats.wire import WINDOW_MS, ExecutorSample, Frame, Health, TaskCounts

PER_SECOND = 1_000 // WINDOW_MS
EXECUTORS, INSTANCES, TASKS = 4, 8, 8
# The number of different seconds; then they repeat.
SECONDS = 64


class MadeJob:
    """`phase` shifts the job against others by so many seconds."""

    def __init__(self, bodies: "Bodies", phase: int = 0) -> None:
        self._bodies = bodies
        self._phase = phase

    def frame(self, window: int, sequence: int) -> bytes:
        body = self._bodies.at(window + self._phase * PER_SECOND)
        return _head(window, sequence) + body

    def activities(self, second: int) -> bytes:
        """The encoded activities that ended in that second of the epoch."""
        return activity.encode(list(_ended(second * 1_000_000, second + self._phase)))


class Bodies:
    """The encoded frames without their headers."""

    def __init__(self, seconds: int = SECONDS) -> None:
        self._bodies = [_body(window) for window in range(seconds * PER_SECOND)]

    def at(self, window: int) -> bytes:
        return self._bodies[window % len(self._bodies)]


def _head(window: int, sequence: int) -> bytes:
    # A frame in which nothing is known has no section.
    return wire.encode(Frame(window, sequence, ui_stream.RUN_ID))


def _body(window: int) -> bytes:
    chance = random.Random(window)
    made = ui_stream.frame(window, 0)
    samples = tuple(_executor(chance, at) for at in range(EXECUTORS))
    tasks = TaskCounts(running=4, waiting=chance.randrange(4), finished=1)
    whole = replace(made, executors=samples, tasks=tasks, health=Health(late_parts=3))
    return wire.encode(whole)[len(_head(window, 0)) :]


def _executor(chance: random.Random, at: int) -> ExecutorSample:
    values = {metric.id: chance.randrange(20_000) for metric in METRICS}
    values[BY_NAME["host_cpu"].id] = min(1_000, max(0, round(chance.gauss(500, 90))))
    values[BY_NAME["psi_io_full_us"].id] = chance.randrange(2_000)
    values[BY_NAME["host_runnable"].id] = chance.randrange(6)
    values[BY_NAME["process_cores"].id] = 4
    return ExecutorSample(str(at), f"node-{at % 2}.example", values)


def _ended(at_us: int, second: int) -> Iterator[Activity]:
    yield Activity(Kind.BATCH, at_us, at_us + 600_000, name=f"batch {second}")
    for operator in (0, 1):
        for partition in range(INSTANCES):
            flushed_us = at_us + 640_000 + partition * 2_000
            yield Activity(
                Kind.FLUSH, at_us + 600_000, flushed_us, "1", operator, partition, "", "", 10**6
            )
            if second % 4 == (partition + operator) % 4:
                yield Activity(
                    Kind.COMPACTION, flushed_us, flushed_us + 200_000, "1", operator, partition
                )
    for task in range(TASKS):
        start_us = at_us + 20_000
        end_us = start_us + 200_000 + task * 9_000
        executor = str(task % EXECUTORS)
        yield Activity(
            Kind.TASK, start_us, end_us, executor, partition=task, name=f"stage {second}"
        )
    if second % 7 == 0:
        yield Activity(Kind.GC, at_us + 100_000, at_us + 115_000, "1", name="G1")

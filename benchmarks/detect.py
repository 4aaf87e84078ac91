"""What detection costs: an hour from scratch, and the work of one more second of one job.

The job is the made-up one of the user interface's benchmark, with flushes, compactions, batches
and pauses; frames and activities are encoded first, so that reading them is part of the cost.
"""

import time
from collections.abc import Iterator, Mapping
from statistics import median

from benchmarks import ui_stream
from collectors import activity, wire
from collectors.activity import Activity, Kind
from collectors.wire import WINDOW_MS
from dashboard import activities, windows
from dashboard.detection.watch import Watch
from dashboard.history import History
from dashboard.store import Entry
from techniques.detectors import find_all

SUMMARY = "what detection costs: an hour of one job from scratch, and each second of it as it comes"

HOUR_S = 3_600
QUICK_S, FULL_S = 240, 1_200
PER_SECOND = 1_000 // WINDOW_MS
FIRST = 34_000_000_000
INSTANCES = 8


def run(quick: bool) -> Mapping[str, object]:
    seconds = list(made(HOUR_S))
    hours_s = [analysed_s(seconds) for _ in range(2 if quick else 5)]
    ms = looks_ms(seconds[: QUICK_S if quick else FULL_S])
    mean_ms = sum(ms) / len(ms)
    return {
        "hour_s": round(median(hours_s), 3),
        "ms_per_job_second": round(mean_ms, 3),
        "jobs_per_core": int(1_000 / mean_ms),
        "longest_look_ms": round(max(ms), 1),
        "seconds": len(ms),
    }


def table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<20} {value}" for name, value in result.items())


def analysed_s(seconds: list[tuple[list[Entry], list[Entry]]]) -> float:
    """All detectors over the whole hour, its arrays already read."""
    history = History(HOUR_S * PER_SECOND)
    for frames, ended in seconds:
        history.add(windows.read(frames)[0], activities.read(ended)[0])
    view = history.view()
    began_s = time.process_time()
    find_all(view)
    return time.process_time() - began_s


def looks_ms(seconds: list[tuple[list[Entry], list[Entry]]]) -> list[float]:
    """CPU time of each second from its bytes to its changes, once two minutes are known."""
    watch = Watch()
    spent = []
    for frames, ended in seconds:
        began_s = time.process_time()
        watch.add(windows.read(frames)[0], activities.read(ended)[0])
        spent.append((time.process_time() - began_s) * 1000)
    return spent[120:]


def made(seconds: int) -> Iterator[tuple[list[Entry], list[Entry]]]:
    for second in range(seconds):
        first = FIRST + second * PER_SECOND
        frames = [
            Entry(window * WINDOW_MS, wire.encode(ui_stream.frame(window, window - FIRST)))
            for window in range(first, first + PER_SECOND)
        ]
        at_ms = first * WINDOW_MS
        yield frames, [Entry(at_ms, activity.encode(list(ended(at_ms, second))))]


def ended(at_ms: int, second: int) -> Iterator[Activity]:
    at_us = at_ms * 1000
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
    for task in range(8):
        start_us = at_us + 20_000
        yield Activity(
            Kind.TASK,
            start_us,
            start_us + 200_000 + task * 9_000,
            str(task % 2 + 1),
            partition=task,
            name=f"stage {second}",
        )
    if second % 7 == 0:
        yield Activity(Kind.GC, at_us + 100_000, at_us + 115_000, "1", name="G1")

"""What detection costs: an hour from scratch, and the work of one more second of one job.

The job is a made-up one of four executors with every metric (`benchmarks.made_job`); its frames
and activities are bytes as Redis has them, so that reading them is part of the cost. All times are
CPU time of this process.
"""

import time
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.made_job import PER_SECOND, Bodies, MadeJob
from collectors.formats.wire import WINDOW_MS
from dashboard.detection.watch import Watch
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, History, only
from dashboard.store import Entry
from dashboard.worker.needs import reads_of_all
from techniques.detection import find_all
from techniques.registry import Registry
from techniques.view import Reads, View

SUMMARY = "what detection costs: an hour of one job from scratch, and each second of it as it comes"

HOUR_S = 3_600
QUICK_S, FULL_S = 240, 1_200
FIRST_S = 1_700_000_000
# Earlier the view has less than two minutes, and detection is cheaper.
WARM_S = 120

# As a worker reads it.
READS = reads_of_all(Registry())
NEEDS = only(READS)
WITH_TASKS = Reads.TASKS in READS

Second = tuple[list[Entry], list[Entry]]


def run(quick: bool) -> Mapping[str, object]:
    seconds = made(HOUR_S)
    hours = [hour_s(seconds) for _ in range(2 if quick else 5)]
    ms = looks_ms(seconds[: QUICK_S if quick else FULL_S])
    mean_ms = sum(ms) / len(ms)
    return {
        "hour_s": round(median(rules_s for _, rules_s in hours), 3),
        "hour_read_s": round(median(read_s for read_s, _ in hours), 3),
        "ms_per_job_second": round(mean_ms, 3),
        "jobs_per_core": int(1_000 / mean_ms),
        "longest_look_ms": round(max(ms), 1),
        "seconds": len(ms),
    }


def table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<20} {value}" for name, value in result.items())


def hour_s(seconds: Sequence[Second]) -> tuple[float, float]:
    """CPU seconds to decode an hour's bytes into arrays, and to run all rules on them."""
    began_s = time.process_time()
    view = read(seconds)
    read_s = time.process_time() - began_s
    find_all(view)
    return read_s, time.process_time() - began_s - read_s


def read(seconds: Sequence[Second]) -> View:
    history = History(len(seconds) * PER_SECOND, READS)
    for frames, ended in seconds:
        history.add(windows.read(frames, NEEDS)[0], activities.read(ended, WITH_TASKS)[0])
    return history.view()


def looks_ms(seconds: Sequence[Second]) -> list[float]:
    """CPU time to process each second of data, from its bytes to the changed incidents."""
    watch, history = Watch(), History(LOOKS_BACK_MS // WINDOW_MS, READS)
    spent = []
    for frames, ended in seconds:
        began_s = time.process_time()
        history.add(windows.read(frames, NEEDS)[0], activities.read(ended, WITH_TASKS)[0])
        watch.look(history.view())
        spent.append((time.process_time() - began_s) * 1000)
    return spent[WARM_S:]


def made(seconds: int) -> list[Second]:
    job = MadeJob(Bodies())
    found = []
    for second in range(FIRST_S, FIRST_S + seconds):
        first = second * PER_SECOND
        frames = [
            Entry(window * WINDOW_MS, job.frame(window, window - FIRST_S * PER_SECOND))
            for window in range(first, first + PER_SECOND)
        ]
        found.append((frames, [Entry(second * 1000, job.activities(second))]))
    return found

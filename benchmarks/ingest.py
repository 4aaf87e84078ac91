"""Whether one worker keeps up with hundreds of jobs: frames through a real Redis, detection on.

Made-up jobs of 20 frames a second each are written to Redis as collectors write them, by a process
of their own. The worker is the product's, with all its tasks. It writes to Redis up to which window
it has processed a job; the lag is the time from a window's writing to our reading of that, so an
upper bound by up to one polling interval. The steady phase begins when the rules have enough data.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.cpu import process_s
from benchmarks.ingest_stream import job_id
from collectors.formats.wire import WINDOW_MS
from dashboard.cli import sessions
from dashboard.cli.root import ROOT
from dashboard.store import Store
from dashboard.store.redis import RedisStore
from dashboard.testing.stack import Stack, stack

SUMMARY = "500 made-up jobs of 20 frames a second through one Redis and one worker with detection"

JOBS = 500
PER_SECOND = 1_000 // WINDOW_MS
# Rules need 20 s and look back two minutes: a quick run has shorter views, which are cheaper.
QUICK_S, QUICK_WARM_S = 36, 24
FULL_S, FULL_WARM_S = 210, 150
ASKS_EVERY_S = 0.1
# Windows that are not processed by then count as dropped.
DRAIN_S = 5.0
# The worker keeps up if nothing is dropped and windows are processed within about two rounds.
HELD_LAG_MS = 2_500

Looked = Sequence[tuple[float, Mapping[str, int]]]


def run(quick: bool, jobs: int = JOBS) -> Mapping[str, object]:
    seconds, warm_s = (QUICK_S, QUICK_WARM_S) if quick else (FULL_S, FULL_WARM_S)
    with stack() as running:
        store = RedisStore(running.redis.url)
        _until_it_works(store)
        argv = [sys.executable, "-m", "benchmarks.ingest_stream", "--redis", running.redis.url]
        argv += ["--jobs", str(jobs), "--seconds", str(seconds)]
        with subprocess.Popen(
            argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as writer:
            try:
                return _measured(running, store, writer, jobs, seconds, warm_s)
            finally:
                writer.kill()


def table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<20} {value}" for name, value in result.items())


def _measured(
    running: Stack,
    store: Store,
    writer: "subprocess.Popen[str]",
    jobs: int,
    seconds: int,
    warm_s: int,
) -> Mapping[str, object]:
    assert writer.stdin
    assert writer.stdout
    writer.stdout.readline()
    print(f"ingest: {jobs} jobs for {seconds} s, measured from {warm_s} s on", file=sys.stderr)
    writer.stdin.write("go\n")
    writer.stdin.flush()
    began_s = time.time()
    looked = [*asyncio.run(_watch(store, until_s=began_s + warm_s))]
    cpu_s, at_s = _worker_s(running), time.time()
    looked += asyncio.run(_watch(store, until_s=began_s + seconds))
    cores = (_worker_s(running) - cpu_s) / (time.time() - at_s)
    told = json.loads(writer.stdout.readline())
    looked += asyncio.run(_watch(store, until_s=time.time() + DRAIN_S))
    written_ms = {int(window): ms for window, ms in told["written_ms"].items()}
    warm_ms = (began_s + warm_s) * 1000
    lags_ms = lags(looked, written_ms, jobs, warm_ms)
    steady = sorted(ms for ms in written_ms.values() if ms >= warm_ms)
    took_s = (steady[-1] - steady[0]) / 1000
    looked_per_s = looked_at_per_s(
        [each for each in looked if each[0] <= steady[-1]], jobs, warm_ms
    )
    dropped = told["skipped_windows"] * jobs + not_looked_at(looked[-1][1], written_ms, jobs)
    p99_ms = float(np.percentile(lags_ms, 99))
    return {
        "jobs": jobs,
        "frames_per_s": round((len(steady) - 1) * jobs / took_s),
        "lag_p50_ms": round(float(np.percentile(lags_ms, 50))),
        "lag_p99_ms": round(p99_ms),
        "dropped": dropped,
        "held": dropped == 0 and p99_ms <= HELD_LAG_MS,
        "looked_at_per_s": round(looked_per_s),
        "worker_cores": round(cores, 2),
        "seconds": round(took_s, 1),
    }


def lags(
    looked: Looked, written_ms: Mapping[int, int], jobs: int, from_ms: float
) -> NDArray[np.float64]:
    """The lag of every frame written since `from_ms`, from its writing to its processing."""
    windows = np.array(sorted(written_ms))
    wrote_ms = np.array([written_ms[window] for window in windows.tolist()], dtype=np.float64)
    names = [job_id(at) for at in range(jobs)]
    before = dict.fromkeys(names, 0)
    found = [np.empty(0)]
    for at_ms, told in looked:
        for name in names:
            after = int(np.searchsorted(windows, told.get(name, 0) // WINDOW_MS, side="right"))
            if after > before[name]:
                news_ms = wrote_ms[before[name] : after]
                found.append(at_ms - news_ms[news_ms >= from_ms])
                before[name] = after
    return np.concatenate(found)


def not_looked_at(told: Mapping[str, int], written_ms: Mapping[int, int], jobs: int) -> int:
    newest = [told.get(job_id(at), 0) // WINDOW_MS for at in range(jobs)]
    windows = np.array(sorted(written_ms))
    return int(sum(np.count_nonzero(windows > each) for each in newest))


def looked_at_per_s(looked: Looked, jobs: int, from_ms: float) -> float:
    """Frames processed per second: the capacity, if the worker cannot keep up."""
    names = [job_id(at) for at in range(jobs)]
    steady = [
        (at_ms, sum(told.get(name, 0) // WINDOW_MS for name in names))
        for at_ms, told in looked
        if at_ms >= from_ms and all(name in told for name in names)
    ]
    if len(steady) < 2:
        return 0.0
    (first_ms, before), (last_ms, after) = steady[0], steady[-1]
    return (after - before) / (last_ms - first_ms) * 1000


async def _watch(store: Store, until_s: float) -> Looked:
    """Polls up to which window the worker has processed each job, with the time of each reading."""
    found: list[tuple[float, Mapping[str, int]]] = []
    try:
        while time.time() < until_s:
            told = await store.looked()
            found.append((time.time() * 1000, told))
            await asyncio.sleep(ASKS_EVERY_S)
    finally:
        await store.close()
    return found


def _until_it_works(store: Store, timeout_s: float = 60) -> None:
    async def beaten() -> bool:
        try:
            return await store.beaten()
        finally:
            await store.close()

    deadline_s = time.monotonic() + timeout_s
    while not asyncio.run(beaten()):
        if time.monotonic() > deadline_s:
            raise TimeoutError("the worker did not start")
        time.sleep(0.1)


def _worker_s(running: Stack) -> float:
    """CPU seconds of the worker with all its processes."""
    return sum(process_s(pid) for pid in sessions.members(running.worker_pid))

"""A made-up job on a real Redis, sent by the collector's own shipper: twelve series, 50 ms windows.

Five latencies, three hosts' CPU, flushes and compactions of two operators each: a batch a second
and a spike every sixteen. It sends the past as fast as possible, then the present in real time.
"""

import argparse
import random
import time
from collections.abc import Iterator
from uuid import UUID

from collectors.formats import keys, wire
from collectors.formats.announcement import Announcement
from collectors.formats.buckets import Histogram
from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import WINDOW_MS, Batch, ExecutorSample, Frame, OperatorState
from collectors.process.shipper import Shipper

APPLICATION, QUERY = "bench", "ui"
JOB_ID = keys.job_id(APPLICATION, QUERY)
RUN_ID = UUID("0a0b0c0d-0000-4000-8000-000000000001")
HOSTS = ("node-a", "node-b", "node-c")
CLOSES_AFTER_MS = 200
PER_SECOND = 1000 // WINDOW_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--past-s", type=int, required=True)
    options = parser.parse_args()
    shipper = Shipper(options.redis)
    shipper.start()
    began_ms = _now_ms()
    first, now = (began_ms - options.past_s * 1000) // WINDOW_MS, began_ms // WINDOW_MS
    for window in range(first, now):
        _ship(shipper, window, window - first)
        while shipper.waiting > 500:
            time.sleep(0.005)
    print("past sent", flush=True)
    for window in _windows_as_they_close(now):
        _ship(shipper, window, window - first)
    return 0


def _windows_as_they_close(first: int) -> Iterator[int]:
    window = first
    while True:
        closes_ms = (window + 1) * WINDOW_MS + CLOSES_AFTER_MS
        time.sleep(max(0.0, (closes_ms - time.time() * 1000) / 1000))
        yield window
        window += 1


def _ship(shipper: Shipper, window: int, sequence: int) -> None:
    made = frame(window, sequence)
    shipper.ship(keys.frames(JOB_ID), made.start_ms, wire.encode(made))
    if window % PER_SECOND == 0:
        shipper.announce(
            Announcement(
                job_id=JOB_ID,
                application=APPLICATION,
                query=QUERY,
                run_id=str(RUN_ID),
                application_id="made-up",
                spark_version="4.3.0",
                driver_host=HOSTS[0],
                started_ms=made.start_ms - sequence * WINDOW_MS,
                heartbeat_ms=_now_ms(),
            )
        )


def frame(window: int, sequence: int) -> Frame:
    """The frame of a window: always the same for the same window."""
    chance = random.Random(window)
    second, place = divmod(window, PER_SECOND)
    spiking = second % 16 == 0
    busy = 4 <= place < (13 if spiking else 9)
    batches: tuple[Batch, ...] = ()
    if place == 13:
        batches = (Batch(second, second * 1000 + 200, 450, 12_000, (1, 2, 30, 20, 380, 17)),)
    return Frame(
        window=window,
        sequence=sequence,
        run_id=RUN_ID,
        latency=_latencies(chance, spiking) if busy else Histogram(),
        batches=batches,
        executors=tuple(_executor(chance, at, busy) for at in range(len(HOSTS))),
        backlog_rows=round(abs(chance.gauss(0, 400))),
        stamped=True,
        state=tuple(_state(chance, operator, place, spiking) for operator in (0, 1)),
    )


def _latencies(chance: random.Random, spiking: bool) -> Histogram:
    slow = 3 if spiking else 1
    return Histogram.of(round(chance.lognormvariate(12.1, 0.35) * slow) for _ in range(60))


def _executor(chance: random.Random, at: int, busy: bool) -> ExecutorSample:
    load = (900 if busy else 350) - 90 * at
    return ExecutorSample(
        str(at),
        HOSTS[at],
        {
            BY_NAME["host_cpu"].id: min(1000, max(0, round(chance.gauss(load, 60)))),
            BY_NAME["process_cpu_us"].id: max(0, round(chance.gauss(load * 75, 4_000))),
        },
    )


def _state(chance: random.Random, operator: int, place: int, spiking: bool) -> OperatorState:
    return OperatorState(
        operator,
        flushes=chance.randrange(4, 9) if place in (9, 10) else 0,
        compactions=chance.randrange(2, 7) if spiking and 9 <= place < 13 else 0,
        l0_files=chance.randrange(1, 5),
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    raise SystemExit(main())

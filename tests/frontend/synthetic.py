"""A made-up job, the same for the same window whenever it is asked: 1 s micro-batches, a p50 of
about 180 ms, a p99 of about 400 ms, and every 16 s a batch whose tail reaches 2 s."""

import random
from typing import Any

WINDOW_MS = 50
SPIKE_EVERY_S = 16
HOSTS = ("worker-1.spark.internal", "worker-2.spark.internal", "driver.spark.internal")
COLUMNS = ("count", "p50", "p90", "p99", "p999", "max")

Json = dict[str, Any]


def job(state: str = "running", *, last_seen_ms: int, **changes: Any) -> Json:
    return {
        "id": "traffic-jam.ranking",
        "application": "traffic-jam",
        "query": "ranking",
        "state": state,
        "first_seen_ms": last_seen_ms - 86_400_000,
        "last_seen_ms": last_seen_ms,
        "run": {
            "run_id": "5f0f0dc2-4a0d-4b0e-8d5e-0a6f5b1c9e11",
            "application_id": "app-20261116073200-0004",
            "spark_version": "4.3.0",
            "driver_host": "driver.spark.internal",
            "started_ms": last_seen_ms - 5_400_000,
            "ended_ms": None,
            "end_reason": "",
        },
        **changes,
    }


def windows(start_ms: int, end_ms: int, *, source: str = "record", **collector: int) -> Json:
    """The WindowBatch of all windows that start in [start_ms, end_ms)."""
    first = -(-start_ms // WINDOW_MS)
    numbers = range(first, -(-end_ms // WINDOW_MS))
    rows = [_window(number) for number in numbers]
    return {
        "job": "traffic-jam.ranking",
        "window_ms": WINDOW_MS,
        "t": [number * WINDOW_MS for number in numbers],
        "latency": {
            "source": source,
            **{name: [row["latency"][name] for row in rows] for name in COLUMNS},
        },
        "cpu": {host: [row["cpu"][i] for row in rows] for i, host in enumerate(HOSTS)},
        "state": {
            "flushes": {str(operator): [row["flushes"] for row in rows] for operator in (0, 1)},
            "compactions": {"0": [row["compactions"] for row in rows]},
            "l0_files": {"0": [3 for _ in rows]},
        },
        "activities": activities(start_ms, end_ms),
        "rows_in": [row["rows_in"] for row in rows],
        "backlog_rows": [0 for _ in rows],
        "batches": [],
        "collector": {"dropped": 0, "late": 0, "unreadable": 0, **collector},
    }


def activities(start_ms: int, end_ms: int) -> list[Json]:
    """A GC pause of 30 ms every 7 s."""
    first = -(-start_ms // 7_000) * 7_000
    return [
        {
            "kind": "gc",
            "start_ms": at_ms,
            "end_ms": at_ms + 30,
            "executor": "1",
            "operator": None,
            "partition": None,
            "name": "G1 Young Generation",
            "reason": "G1 Evacuation Pause",
            "input_bytes": None,
            "output_bytes": None,
        }
        for at_ms in range(first, end_ms, 7_000)
    ]


def _window(number: int) -> Json:
    chance = random.Random(number)
    second, place = divmod(number, 1000 // WINDOW_MS)
    spiking = second % SPIKE_EVERY_S == 0
    ends = 13 if spiking else 9
    busy = 4 <= place < ends
    latency: Json = dict.fromkeys(COLUMNS) | {"count": 0}
    if busy:
        p50 = 180 * chance.uniform(0.85, 1.2)
        p99 = 400 * chance.uniform(0.85, 1.2)
        p999 = p99 * chance.uniform(1.1, 1.4)
        if spiking and place >= 9:
            p99, p999 = chance.uniform(900, 1300), chance.uniform(1800, 2050)
        latency = {
            "count": chance.randrange(1500, 2100),
            "p50": p50,
            "p90": p50 * chance.uniform(1.4, 1.6),
            "p99": p99,
            "p999": p999,
            "max": p999 * 1.1,
        }
    load = 92 if busy else 38
    cpu = [min(100.0, max(0.0, load * share + chance.gauss(0, 5))) for share in (1, 0.8, 0.35)]
    return {
        "latency": latency,
        "cpu": cpu,
        "rows_in": latency["count"],
        "flushes": 8 if place == 4 else 0,
        "compactions": 6 if spiking and place >= 4 else 0,
    }

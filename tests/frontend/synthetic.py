"""A made-up job, the same for the same window whenever it is asked: 1 s micro-batches, a p50 of
about 180 ms, a p99 of about 400 ms, and every 16 s a batch whose tail reaches 2 s."""

import random
from functools import lru_cache
from typing import Any

WINDOW_MS = 50
SPIKE_EVERY_S = 16
EXECUTORS = ("1", "2", "driver")
PARTITIONS = 4
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


def windows(start_ms: int, end_ms: int, *, source: str = "record", **collector: float) -> Json:
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
        "committed": {
            name: [row["committed"][name] for row in rows] for name in COLUMNS if name != "max"
        },
        "process_cpu": {
            executor: [row["cpu"][i] * 1.9 for row in rows] for i, executor in enumerate(EXECUTORS)
        },
        "tasks": {
            "running": [row["tasks"] for row in rows],
            "waiting": [max(0, row["tasks"] - 2) for row in rows],
        },
        "state": {
            "flushes": {str(operator): [row["flushes"] for row in rows] for operator in (0, 1)},
            "compactions": {"0": [row["compactions"] for row in rows]},
            "l0_files": {"0": [3 for _ in rows]},
        },
        "activities": activities(start_ms, end_ms),
        "rows_in": [row["rows_in"] for row in rows],
        "backlog_rows": [row["backlog"] for row in rows],
        "batches": [],
        "collector": {"dropped": 0, "late": 0, "unreadable": 0, **collector},
    }


def activities(start_ms: int, end_ms: int) -> list[Json]:
    """A GC pause of 30 ms every 7 s; in every second a batch with its phases and a flush per state
    store, and in the slow batches compactions as well."""
    found: list[Json] = []
    for second in range(start_ms // 1000, -(-end_ms // 1000)):
        at_ms = second * 1000
        if at_ms % 7_000 == 0:
            found.append(
                _activity(
                    "gc",
                    at_ms,
                    at_ms + 30,
                    executor="1",
                    name="G1 Young Generation",
                    reason="G1 Evacuation Pause",
                )
            )
        found += _batch(second)
    return [each for each in found if each["start_ms"] < end_ms and each["end_ms"] >= start_ms]


PHASES = {"latestOffset": 8, "walCommit": 22, "getBatch": 2, "queryPlanning": 40}


@lru_cache(4_000)
def _batch(second: int) -> list[Json]:
    chance = random.Random(second)
    slow = second % SPIKE_EVERY_S == 0
    at_ms = second * 1000 + 100
    ends_ms = at_ms + (640 if slow else 420) + chance.randrange(40)
    name = f"batch {second % 100_000}"
    found = [_activity("batch", at_ms, ends_ms, name=name)]
    for phase, took_ms in {**PHASES, "addBatch": ends_ms - at_ms - 90}.items():
        found.append(_activity("phase", at_ms, at_ms + took_ms, name=phase, reason=name))
        at_ms += took_ms
    found.append(_activity("phase", at_ms, ends_ms, name="commitOffsets", reason=name))
    for operator in (0, 1):
        for partition in range(PARTITIONS):
            where = {
                "executor": EXECUTORS[partition % 2],
                "operator": operator,
                "partition": partition,
            }
            from_ms = second * 1000 + 200 + chance.uniform(0, 60)
            until_ms = from_ms + chance.uniform(8, 40)
            found.append(_activity("flush", from_ms, until_ms, name="default", **where))
            if slow and operator == 0:
                until_ms += 3
                found.append(
                    _activity("compaction", until_ms, until_ms + chance.uniform(150, 420), **where)
                )
    return found


def _activity(kind: str, start_ms: float, end_ms: float, **more: Any) -> Json:
    nothing = {"operator": None, "partition": None, "input_bytes": None, "output_bytes": None}
    named = {"executor": "", "name": "", "reason": ""}
    return {"kind": kind, "start_ms": start_ms, "end_ms": end_ms, **named, **nothing, **more}


@lru_cache(40_000)
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
    later = {
        name: value and (value if name == "count" else value + 260)
        for name, value in latency.items()
    }
    return {
        "latency": latency,
        "committed": later,
        "tasks": 6 if busy else 0,
        "backlog": (4200 if spiking else 1800) if place < 9 else 0,
        "cpu": cpu,
        "rows_in": latency["count"],
        "flushes": 8 if place == 4 else 0,
        "compactions": 6 if spiking and place >= 4 else 0,
    }

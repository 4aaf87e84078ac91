"""Made-up incidents, techniques, distributions and fleets, in the shape of the API."""

import math
from typing import Any

from techniques.slo.objective import as_data
from tests.factories import p99_objective
from tests.frontend import synthetic

Json = dict[str, Any]

COLLECTOR = {
    "dropped": 0,
    "late": 0,
    "lost_parts": 0,
    "lost_records": 0,
    "lost_events": 0,
    "unreadable": 0,
    "shipped_frames": 108_000,
    "shipped_activities": 64_210,
    "waiting": 0,
    "busy_share": 0.021,
}


def incident(number: int, onset_ms: int, state: str = "open", **changes: Any) -> Json:
    return {
        "id": number,
        "job": "traffic-jam.ranking",
        "kind": "synchronised-compactions",
        "title": "Compactions start together",
        "state": state,
        "severity": "critical" if state == "open" else "warning",
        "onset_ms": onset_ms,
        "end_ms": None if state == "open" else onset_ms + 4_000,
        "occurrences": 7,
        "next_expected_ms": onset_ms + 16_000 if state == "open" else None,
        "explanation": "Every 16 s, four state stores of operator 0 compact at the same moment. "
        "CPU is then at its limit for 0.6 s, and p99.9 rises to 2 s.",
        "technique": "compaction-delay",
        "evidence": {"compactions_at_once": 4, "p999_ms": 2013.2, "cpu": "97 % of worker-1"},
        **changes,
    }


def card(name: str = "compaction-delay", **changes: Any) -> Json:
    return {
        "name": name,
        "title": "Delayed compactions",
        "sentence": "Spreads compactions that would start together over the time until the next.",
        "card_html": None,
        "needs": "the RocksDB state store.",
        "mode": "off",
        "state": "off",
        "because": "",
        "since_ms": None,
        "by": "",
        "conditions": {
            "hold": True,
            "why": "four stores compacted within 60 ms, 7 times in 2 min.",
        },
        "options": [
            {
                "name": "most_delay_ms",
                "title": "Longest delay",
                "kind": "int",
                "value": 2000,
                "default": 2000,
                "low": 0,
                "high": 10_000,
                "choices": None,
                "unit": "ms",
            },
            {
                "name": "idle_only",
                "title": "Only while CPU is idle",
                "kind": "bool",
                "value": True,
                "default": True,
                "low": None,
                "high": None,
                "choices": None,
                "unit": "",
            },
        ],
        "decision": None,
        "effect": None,
        "version": 3,
        **changes,
    }


def cards(now_ms: int) -> list[Json]:
    side = {"start_ms": now_ms - 900_000, "end_ms": now_ms - 600_000, "count": 512_000}
    return [
        card(
            mode="act",
            state="applied",
            by="nadia",
            since_ms=now_ms - 600_000,
            decision={
                "at_ms": now_ms - 12_000,
                "reason": "the next four compactions would start within 80 ms",
                "evidence": [
                    {"name": "compactions due", "value": "4 of 4 stores"},
                    {"name": "free CPU", "value": "38 %"},
                ],
                "settings": {"operator 0 delays": "0, 450, 900, 1350 ms"},
            },
            effect={
                "before": {**side, "p50": 181.2, "p99": 1204.0, "p999": 2011.0},
                "after": {
                    "start_ms": now_ms - 600_000,
                    "end_ms": now_ms,
                    "count": 1_024_000,
                    "p50": 180.1,
                    "p99": 463.0,
                    "p999": 702.0,
                },
                "ratios": {
                    "p50": {"ratio": 0.994, "low": 0.98, "high": 1.01},
                    "p99": {"ratio": 0.385, "low": 0.36, "high": 0.41},
                    "p999": {"ratio": 0.349, "low": 0.31, "high": 0.4},
                },
            },
        ),
        card(
            "flush-spread",
            title="Spread flushes",
            sentence="Gives each state store its own moment to flush, so that no two do at once.",
            mode="advise",
            state="asked",
            by="nadia",
            since_ms=now_ms - 3_000,
        ),
        card(
            "batch-size",
            title="Adaptive batch size",
            sentence="Reads as many rows per batch as keep the latency under its objective.",
            mode="act",
            state="refused",
            because="the source has no limit on rows per batch that can be changed while it runs.",
            by="tomas",
            since_ms=now_ms - 90_000,
            conditions={"hold": False, "why": "the source does not say how many rows wait."},
        ),
    ]


def distribution(scale: float = 1.0, count: int = 240_000) -> Json:
    """Log-normal: p50 180 ms, p99 about 470 ms."""

    def at(share: float) -> float:
        low, high = -6.0, 6.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if _normal(middle) < share else (low, middle)
        return round(180 * scale * math.exp(0.41 * low), 3)

    shares = [1 - 10 ** -(i / 45) for i in range(1, 200)]
    return {
        "count": count,
        "p50": at(0.5),
        "p90": at(0.9),
        "p95": at(0.95),
        "p99": at(0.99),
        "p999": at(0.999),
        "max": at(0.99999),
        "cdf": [[at(share), share] for share in shares if share < 0.99999],
    }


def _normal(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


STATES = ("running",) * 17 + ("stale", "ended", "failed")


def slo(threshold_ms: float, p99_ms: float | None = None, version: int = 1) -> Json:
    return {
        "objective": as_data(p99_objective(threshold_ms)),
        "version": version,
        "latency_ms": p99_ms,
        "juice": None,
        "utility": None,
        "ratio": p99_ms and p99_ms / threshold_ms,
        "violated_ms": None,
    }


def job(number: int, now_ms: int) -> Json:
    """The n-th of a fleet: most run calmly, some do not."""
    state = STATES[number % len(STATES)]
    seen_ms = {"running": 300, "stale": 45_000}.get(state, 4_000_000)
    base = 120 + (number * 37) % 400
    trend = [
        None if state != "running" and i > 60 else base * (1 + 0.4 * math.sin(i / 5 + number))
        for i in range(90)
    ]
    known = [value for value in trend if value is not None]
    p99_ms = known[-1] if state == "running" else None
    return synthetic.job(
        state,
        last_seen_ms=now_ms - seen_ms,
        id=f"team-{number % 12}.query-{number}",
        application=f"team-{number % 12}",
        query=f"query-{number}",
        tags=["payments", "eu"] if number % 5 == 0 else (["ads"] if number % 7 == 0 else []),
        slo=slo(500.0, p99_ms) if number % 3 else None,
        p99_ms=p99_ms,
        p99_source="record",
        p99_recent={"start_ms": now_ms - 900_000, "step_ms": 10_000, "p99_ms": trend},
        backlog_rows=(number * 911) % 90_000,
        open_incidents=1 if number % 41 == 3 else 0,
        incidents_last_hour=2 if number % 41 == 3 else (1 if number % 11 == 0 else 0),
        techniques=[
            {
                "name": "compaction-delay",
                "title": "Delayed compactions",
                "mode": "act",
                "state": "applied",
            },
            {
                "name": "flush-spread",
                "title": "Spread flushes",
                "mode": "advise",
                "state": "asked" if number % 2 else "applied",
            },
        ][: number % 3],
        collector={**COLLECTOR, "dropped": 12 if number % 29 == 0 else 0},
    )


def jobs(number: int, now_ms: int) -> Json:
    items = [job(i, now_ms) for i in range(number)]
    return {"items": items, "count": number, "next": None, "now_ms": now_ms}

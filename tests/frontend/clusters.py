"""A made-up cluster in the shape of the API: nine jobs with priorities 10 to 90, as in Figure 9 of
the Henge paper, of which the one with the highest priority that misses its SLO is helped first."""

import math
from typing import Any

Json = dict[str, Any]

STEP_MS = 10_000
JOBS = 9
HELPED_EVERY_MS = 180_000
MINUTE_MS = 60_000


def objective(priority: float, **latency: Any) -> Json:
    target = {"of": "committed", "statistic": "p99", "threshold_ms": 60, **latency}
    return {
        "latency": {"utility": {"shape": "knee"}, **target},
        "juice": {"threshold": 0.95, "utility": {"shape": "knee"}} if priority == 60 else None,
        "priority": priority,
    }


def name(number: int) -> str:
    return f"page-load.t{number}"


def helped_ms(number: int, now_ms: int) -> int:
    """T9 first, then the others by priority; the last is still to come."""
    return now_ms - 26 * MINUTE_MS + (JOBS - number) * HELPED_EVERY_MS


def share(number: int, at_ms: int, now_ms: int) -> float:
    """Missed by a factor of three until it is helped, then better within a minute; T3 plateaus."""
    since_ms = at_ms - helped_ms(number, now_ms)
    best = 0.62 if number == 3 else 1.0
    low = 0.3 + 0.02 * number + 0.03 * math.sin(at_ms / 40_000 + number)
    return min(best, low + (best - low) * min(1.0, max(0.0, since_ms / MINUTE_MS)))


def cluster(now_ms: int, span_ms: int = 3_600_000, **changes: Any) -> Json:
    times = list(range((now_ms - span_ms) // STEP_MS * STEP_MS, now_ms, STEP_MS))
    # The worker was away for a while: nothing is known of it.
    away = range(now_ms - 34 * MINUTE_MS, now_ms - 31 * MINUTE_MS)
    series = {
        name(number): [
            None if at_ms in away else round(share(number, at_ms, now_ms) * 10 * number, 3)
            for at_ms in times
        ]
        for number in range(1, JOBS + 1)
    }
    total = [
        None if None in values else round(sum(values), 3)
        for values in zip(*series.values(), strict=True)
    ]
    most = sum(10 * number for number in range(1, JOBS + 1))
    return {
        "name": "prod",
        "mode": "act",
        "state": "settling",
        "since_ms": helped_ms(1, now_ms),
        "size": 24,
        "utility": total[-1],
        "max_utility": most,
        "jobs": [job(number, now_ms) for number in range(1, JOBS + 1)],
        "series": {
            "step_ms": STEP_MS,
            "t": times,
            "total": total,
            "max": [most for _ in times],
            "jobs": series,
        },
        "actions": actions(now_ms),
        "now_ms": now_ms,
        **changes,
    }


def job(number: int, now_ms: int) -> Json:
    part = share(number, now_ms, now_ms)
    return {
        "id": name(number),
        "objective": objective(10.0 * number),
        "version": 3,
        "latency_ms": round(60 / part * (0.8 if part == 1 else 1), 1),
        "juice": 0.991 if number == 6 else None,
        "utility": round(part * 10 * number, 3),
        "met": part == 1,
        "budgets": {
            "1h": budget(14.4 * (1 - part) + 0.4),
            "1d": budget(1.2 * (1 - part) + 0.02),
        },
        "blacklisted": {"until_ms": now_ms + 41 * MINUTE_MS, "why": "more resources hardly helped"}
        if number == 3
        else None,
    }


def budget(rate: float) -> Json:
    return {
        "judged": 360,
        "missed": round(3.6 * rate),
        "burn_rate": round(rate, 3),
        "left": max(0.0, round(1 - rate, 3)),
    }


def actions(now_ms: int) -> list[Json]:
    """As `techniques.slo.memory.Entry` has them."""
    found: list[Json] = [
        {
            "at_ms": helped_ms(number, now_ms),
            "what": "reconfiguration",
            "jobs": [name(number)],
            "says": f"{name(number)} misses its SLO, utility {4 * number} of {10 * number}: "
            f"enrich {4 + number} → {8 + number} (capacity 0.{40 + 5 * number})",
            "utility": 200.0,
        }
        for number in range(JOBS, 0, -1)
        if helped_ms(number, now_ms) < now_ms
    ]
    for after_ms, what, jobs, says in (
        (70_000, "black-listed", [name(3)], "its utility rose by 2.1 %, less than 5 %"),
        (-13 * MINUTE_MS, "data lost", [], f"there is none of {name(1)}, {name(2)} and 7 others"),
        (-9 * MINUTE_MS, "collected", [], "data was collected for 5 min"),
    ):
        at_ms = helped_ms(3, now_ms) + after_ms
        found.append({"at_ms": at_ms, "what": what, "jobs": jobs, "says": says, "utility": None})
    return sorted(found, key=lambda each: int(each["at_ms"]), reverse=True)


def listed(now_ms: int) -> Json:
    shown = cluster(now_ms)
    same = ("name", "utility", "max_utility", "state", "size", "mode")
    item = {key: shown[key] for key in same}
    return {"items": [{**item, "jobs": JOBS, "with_slo": JOBS, "met": 8}], "now_ms": now_ms}

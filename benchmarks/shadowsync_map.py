"""Where ShadowSync desynchronisation helps and where it does not: a few regimes, a line each.

As `benchmarks.shadowsync`, with the arms off, control and thresholds only. The regimes are a table,
`MAP` in `benchmarks.switchback.regimes`.
"""

import math
import os
from collections.abc import Mapping
from typing import Any

from benchmarks.machine import machine
from benchmarks.shadowsync import say
from benchmarks.switchback import results
from benchmarks.switchback import table as tables
from benchmarks.switchback.engine import Plan, measure
from benchmarks.switchback.regimes import MAP, Regime
from dashboard.testing.stack import redis_server

SUMMARY = "where ShadowSync desynchronisation helps: off, control and thresholds in several regimes"

FULL = Plan(budget_s=260)
# On a slow disk batches take longer, and so do rounds.
SLOW_MB_S = 100
SLOW = Plan(budget_s=440)
# One round of the first two regimes: to see that it works.
QUICK = Plan(budget_s=80, rounds=1, warm_up=12, length=8)
QUICK_REGIMES = 2


def run(quick: bool) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    names = list(MAP)[: QUICK_REGIMES if quick else None]
    found: dict[str, object] = {}
    for name in names:
        with redis_server() as redis:
            measured = measure(
                MAP[name],
                QUICK if quick else plan(MAP[name]),
                redis,
                lambda words, at=name: say(f"{at}: {words}"),  # type: ignore[misc]
            )
        found[name] = results.of_setting(measured)
    left_out = {name: "left out of a quick run" for name in MAP if name not in names}
    return {"regimes": found, "left_out": left_out, "machine": machine(load_before)}


def plan(regime: Regime) -> Plan:
    return SLOW if (regime.disk_mb_s or math.inf) < SLOW_MB_S else FULL


def table(result: Mapping[str, Any]) -> str:
    lines = tables.of_regimes(result["regimes"])
    lines += [f"{name}: {why}" for name, why in result["left_out"].items()]
    return "\n".join([*lines, "", tables.of_machine(result["machine"])])

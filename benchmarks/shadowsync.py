"""What ShadowSync desynchronisation gains: off and on in alternating blocks on one running query.

**Blocks.** Each setting is one query of an example job, in a process of its own. A block asks
something of it, lets it settle and counts a number of micro-batches: percentiles of committed
record latency, overlap of flushes and compactions, CPU saturation. Before each block all state
stores are brought in step, as what a block leaves behind is the phase of each store: the lever lets
them compact at the commits whose version is a multiple of the threshold, and says *applied* when
all do. Arms and their order: `benchmarks.switchback.arms`.

**Control.** Higher thresholds also compact less often. The *control* arm has them as well, in
phase. What a part gains over control is desynchronisation, what control gains over off less work.

**Higher thresholds**, of 7 to 14 instead of 4 to 7, are measured in the same way with a control of
10 and 11, as `thresholds_7_14`.

**Changelogs** are a setting of the start: `changelog` alternates two queries, without and with
changelog checkpoints (`benchmarks.switchback.restarts`).

**Ratios** are within a round of blocks, in counterbalanced order, with a 95 % interval over rounds.
"""

import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmarks.machine import machine
from benchmarks.switchback import arms, restarts, results
from benchmarks.switchback import table as tables
from benchmarks.switchback.engine import Plan, measure
from benchmarks.switchback.regimes import SETTINGS, Regime
from dashboard.testing.stack import redis_server

SUMMARY = "what ShadowSync desynchronisation and changelog checkpoints gain, in alternating blocks"

HIGH, CHANGELOG = "thresholds_7_14", "changelog"
# What is measured in blocks on one running query.
RUNS: Mapping[str, Regime] = {**SETTINGS, HIGH: SETTINGS["statistical"]}
# Fewer arms make more rounds, and only rounds make an interval: parts are in every other pair of
# rounds of one setting here, and `shadowsync_parts` gives them more time.
EXTRA = (arms.DELAY, arms.THREADS, arms.ALL)
FULL = {
    "scheduled": Plan(budget_s=220),
    "statistical": Plan(budget_s=510, extra=EXTRA),
    "word_count": Plan(budget_s=140),
    HIGH: Plan(budget_s=560, draw=arms.HIGH),
    CHANGELOG: restarts.plan(budget_s=960),
}
QUICK = {
    "statistical": Plan(budget_s=150, warm_up=20),
    HIGH: Plan(budget_s=130, warm_up=12, rounds=1, length=8, draw=arms.HIGH),
    CHANGELOG: restarts.plan(budget_s=10, rounds=1, warm_up=12, length=8),
}


def run(quick: bool) -> Mapping[str, object]:
    return measured(QUICK if quick else FULL)


def measured(plans: Mapping[str, Plan]) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    found: dict[str, object] = dict.fromkeys((*RUNS, CHANGELOG))
    for name, regime in RUNS.items():
        if name in plans:
            with redis_server() as redis:
                seen = measure(regime, plans[name], redis, partial(say_of, name))
            found[name] = results.of_setting(seen)
    if CHANGELOG in plans:
        regime = SETTINGS["statistical"]
        seen = restarts.measure(regime, plans[CHANGELOG], partial(say_of, CHANGELOG))
        found[CHANGELOG] = results.of_restarts(seen)
    left_out = {name: "not in this run" for name in found if name not in plans}
    return {**found, "left_out": left_out, "machine": machine(load_before)}


def table(result: Mapping[str, Any]) -> str:
    told = [
        _told(name, result[name]) if result[name] else f"{name}: {result['left_out'][name]}"
        for name in (*RUNS, CHANGELOG)
    ]
    return "\n\n".join([*told, tables.of_machine(result["machine"])])


def _told(name: str, result: Mapping[str, Any]) -> str:
    if name == CHANGELOG:
        return tables.of_restarts(name, result)
    return tables.of_setting(name, result, paper=name in SETTINGS)


def say_of(name: str, words: str) -> None:
    say(f"{name}: {words}")


def say(words: str) -> None:
    print(f"shadowsync: {words}", file=sys.stderr, flush=True)

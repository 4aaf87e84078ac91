"""What ShadowSync desynchronisation gains: off and on in alternating blocks on one running query.

**Blocks.** Each setting is one query of an example job, in a process of its own. A block asks
something of it, lets it settle and counts a number of micro-batches: percentiles of committed
record latency, overlap of flushes and compactions, CPU saturation. Before each block all state
stores are brought in step, as what a block leaves behind is the phase of each store: the lever lets
them compact at the commits whose version is a multiple of the threshold, and says *applied* when
all do. Arms and their order: `benchmarks.switchback.arms`.

**Control.** Higher thresholds also compact less often. The *control* arm has them as well, in
phase. What a part gains over control is desynchronisation, what control gains over off less work.

**Ratios** are within a round of blocks, in counterbalanced order, with a 95 % interval over rounds.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.machine import machine
from benchmarks.switchback import arms, results
from benchmarks.switchback import table as tables
from benchmarks.switchback.engine import Plan, measure
from benchmarks.switchback.regimes import SETTINGS
from dashboard.testing.stack import redis_server

SUMMARY = "what ShadowSync desynchronisation gains: off and on in blocks on one running query"

# Fewer arms make more rounds, and only rounds make an interval: parts are in every other pair of
# rounds of one setting here, and `shadowsync_parts` gives them more time.
EXTRA = (arms.DELAY, arms.THREADS, arms.ALL)
FULL = {
    "scheduled": Plan(budget_s=220),
    "statistical": Plan(budget_s=510, extra=EXTRA),
    "word_count": Plan(budget_s=140),
}
QUICK = {"statistical": Plan(budget_s=150, warm_up=20)}


def run(quick: bool) -> Mapping[str, object]:
    return measured(QUICK if quick else FULL)


def measured(plans: Mapping[str, Plan]) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    found: dict[str, object] = {}
    for name, regime in SETTINGS.items():
        found[name] = None
        if name in plans:
            with redis_server() as redis:
                seen = measure(
                    regime,
                    plans[name],
                    redis,
                    lambda words, at=name: say(f"{at}: {words}"),  # type: ignore[misc]
                )
            found[name] = results.of_setting(seen)
    left_out = {name: "not in this run" for name in SETTINGS if name not in plans}
    return {**found, "left_out": left_out, "machine": machine(load_before)}


def table(result: Mapping[str, Any]) -> str:
    told = [
        tables.of_setting(name, result[name])
        if result[name]
        else f"{name}: {result['left_out'][name]}"
        for name in SETTINGS
    ]
    return "\n\n".join([*told, tables.of_machine(result["machine"])])


def say(words: str) -> None:
    print(f"shadowsync: {words}", file=sys.stderr, flush=True)

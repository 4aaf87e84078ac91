"""What techniques for any Spark job gain on a cluster of three loopback hosts.

One query runs all the time; blocks of some 40 micro-batches alternate between *arms*: Spark as it
is, Spark's own speculation with its default constants, and ours. Regimes, arms and their order:
`benchmarks.cluster_regimes`. Decisions are made by the techniques' own controllers, on the frames
of the query, and reach the job by its control document, as from the dashboard. Before each block
all state partitions are put back evenly by the same lever.

**Slowness is made** by stopping and continuing an executor's JVM (`examples/noisy_neighbour.py`):
for Spark and for the probe it is a host whose CPU others use. All hosts share this machine's cores.

**Figures.** `p99_batch_ratio` compares durations of micro-batches, `p999_latency_ratio` committed
record latency, which here includes up to a second that records wait for their batch. Both are over
all blocks of an arm, with a 95 % interval over rounds. `cost` of speculation is the task time of
copies by that of all other tasks; of balancing, the time that moves added by that of all tasks of
the batches that count (`benchmarks.cluster_results`).
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks import cluster_results as results
from benchmarks.cluster_engine import Measured, measure, scratch, started
from benchmarks.cluster_figures import Figures
from benchmarks.cluster_regimes import (
    BALANCING,
    DEFAULT,
    EVEN,
    HOSTS,
    REGIMES,
    SLOW_HOST,
    SPECULATION,
    STALLS,
    Plan,
)
from benchmarks.machine import machine
from benchmarks.ratios import Interval
from benchmarks.switchback.results import interval_of
from dashboard.testing.cluster import cluster
from dashboard.testing.stack import redis_server

SUMMARY = "copies of late tasks and moves of state, three hosts, one slow (--quick: 5 minutes)"

# The queries, each with the regimes that are measured on it; the even one before any slowness.
QUERIES = ((EVEN, SLOW_HOST), (STALLS,))
# Balancing moves one partition in each of its periods of 10 s.
FULL = Plan(
    rounds={EVEN: 2, SLOW_HOST: 4, STALLS: 5},
    settle_acting={BALANCING: 60, SPECULATION: 15},
)
QUICK = Plan(
    rounds={EVEN: 1, SLOW_HOST: 1, STALLS: 1},
    warm_up=25,
    settle=2,
    settle_acting={BALANCING: 24, SPECULATION: 10},
    length=16,
    options={BALANCING: {"period": 5.0}},
)
AIMS = {
    BALANCING: {"p99_batch_ratio": 0.5},
    SPECULATION: {"p99_batch_ratio": 0.72, "cost": 0.05},
    EVEN: {"moves": 0},
}


def run(quick: bool) -> Mapping[str, object]:
    plan = QUICK if quick else FULL
    load_before = os.getloadavg()[0]
    measured: dict[str, Measured] = {}
    with cluster(workers=HOSTS) as hosts:
        for names in QUERIES:
            # Each with a Redis of its own: both queries are the same job to it.
            with (
                redis_server() as redis,
                scratch() as folder,
                started(REGIMES[names[0]], hosts, redis, folder, plan.warm_up) as query,
            ):
                for name in names:
                    say_of = partial(say, name)
                    measured[name] = measure(REGIMES[name], plan, query, hosts, folder, say_of)
                    say_of(f"in ms, {results.levels_ms(measured[name].figures)}")
    return {**result(measured), "machine": machine(load_before)}


def result(measured: Mapping[str, Measured]) -> dict[str, Any]:
    """Arms that were not measured are None, and `left_out` says why."""
    slow, stalls, even = (measured[name].figures for name in (SLOW_HOST, STALLS, EVEN))
    return {
        SPECULATION: _copies(stalls, SPECULATION),
        BALANCING: _moves(slow, BALANCING),
        # Where copies can help, and beside it where one host is slow all the time.
        "peers": {DEFAULT: {**(_copies(stalls, DEFAULT) or {}), SLOW_HOST: _copies(slow, DEFAULT)}},
        EVEN: _moves(even, BALANCING),
        "levels_ms": {name: results.levels_ms(each.figures) for name, each in measured.items()},
        "left_out": {name: each.left_out for name, each in measured.items()},
        "aims": AIMS,
    }


def _copies(figures: Sequence[Figures], arm: str) -> dict[str, Any] | None:
    found = results.of_arm(figures, arm)
    return found and {**found, **results.of_copies(figures, arm)}


def _moves(figures: Sequence[Figures], arm: str) -> dict[str, Any] | None:
    found = results.of_arm(figures, arm)
    return found and {**found, **results.of_moves(figures, arm)}


def table(result: Mapping[str, Any]) -> str:
    default = result["peers"][DEFAULT]
    lines = [f"{'regime, arm / off':<34} {'p99 of batches':<24}{'p99.9 of records':<24}"]
    for label, found in (
        (f"stalls, {SPECULATION}", result[SPECULATION]),
        (f"stalls, {DEFAULT}", default if "cost" in default else None),
        (f"slow host, {BALANCING}", result[BALANCING]),
        (f"slow host, {DEFAULT}", default[SLOW_HOST]),
        (f"even, {BALANCING}", result[EVEN]),
    ):
        lines.append(f"{label:<34} {_line(found)}")
    for regime, left_out in result["left_out"].items():
        lines += [f"{regime}, {arm}: left out, {why}" for arm, why in left_out.items()]
    told = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
    aims = "aims: p99 of batches ≤ 0.5 by balancing, ≤ 0.72 at a cost ≤ 5 % by speculation"
    return "\n".join([*lines, aims, told])


def _line(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "not measured"
    ratios = [interval_of(found, f"{name}_ratio") for name in ("p99_batch", "p999_latency")]
    cells = "".join(f"{_cell(ratio):<24}" for ratio in ratios)
    if "moves" in found:
        settled, cost = _told(found["settle_s"], "s"), _told(found["move_cost_ms"], "ms a move")
        return f"{cells}{found['moves']:g} moves, settled after {settled}, {cost}"
    return f"{cells}{found['copies']} copies, cost {found['cost']:.1%}"


def _cell(ratio: Interval | None) -> str:
    if ratio is None:
        return "-"
    if ratio.low is None or ratio.high is None:
        return f"{ratio.mean:.2f} [few rounds]"
    return f"{ratio.mean:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _told(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:g} {unit}"


def say(regime: str, words: str) -> None:
    print(f"cluster: {regime}: {words}", file=sys.stderr, flush=True)

"""The ring against other transports between two processes of one host: latency and throughput.

A cell is a size, a rate and a number of producers. Within a cell all transports take a few short
turns each, so that noise of the machine falls on all of them alike. How messages are paced and how
latency is measured: `ipc_cell`.
"""

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.ipc_cell import Cell, Outcome, measured
from benchmarks.ipc_transports import NEEDS, RING, WAYS
from benchmarks.machine import machine

SUMMARY = "the pool's ring against sockets, pipes, queues, ZeroMQ and iceoryx2: latency, throughput"

SIZES_BYTES = (256, 10_000, 40_000, 320_000)
RATES_PER_S: tuple[int | None, ...] = (100, 1_000, 3_000, None)
PRODUCERS = (1, 4)
FLAT_OUT = "flat out"


@dataclass(frozen=True)
class Plan:
    cells: Sequence[Cell]
    turns: int
    turn_s: float


FULL = Plan(
    [
        Cell(size, rate, count)
        for size in SIZES_BYTES
        for rate in RATES_PER_S
        for count in PRODUCERS
    ],
    turns=3,
    turn_s=0.6,
)
# The extremes only: smallest and largest, slow and fast, one and four producers.
QUICK = Plan(
    [
        Cell(256, 1_000, 1),
        Cell(256, None, 1),
        Cell(10_000, 1_000, 4),
        Cell(40_000, 3_000, 1),
        Cell(320_000, 100, 1),
    ],
    turns=2,
    turn_s=0.4,
)


def run(quick: bool) -> Mapping[str, object]:
    plan = QUICK if quick else FULL
    load_before = os.getloadavg()[0]
    ways = [name for name in WAYS if importlib.util.find_spec(NEEDS.get(name, "sys"))]
    left_out = [name for name in WAYS if name not in ways]
    for name in left_out:
        print(f"{name} is left out: {NEEDS[name]} is not installed", file=sys.stderr)
    cells = [_cell(cell, plan, ways, number) for number, cell in enumerate(plan.cells, 1)]
    return {
        **compared(cells),
        "cells": cells,
        "left_out": left_out,
        "cells_of_full": f"{len(plan.cells)} of {len(FULL.cells)}",
        "machine": machine(load_before),
    }


def _cell(cell: Cell, plan: Plan, ways: Sequence[str], number: int) -> dict[str, Any]:
    print(f"cell {number} of {len(plan.cells)}: {_named(cell)}", file=sys.stderr)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in ways}
    for turn in range(plan.turns):
        # The order rotates, so that none always follows the same one.
        shift = turn * len(ways) // plan.turns
        for name in (*ways[shift:], *ways[:shift]):
            outcomes[name].append(measured(WAYS[name], cell, plan.turn_s))
    return {
        "size_bytes": cell.size_bytes,
        "rate_per_s": cell.rate_per_s or FLAT_OUT,
        "producers": cell.producers,
        "transports": {name: summary(outcomes[name]) for name in ways},
    }


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    latencies_us = np.concatenate([outcome.latencies_us for outcome in outcomes])
    p50, p99 = np.percentile(latencies_us, [50, 99])
    messages = sum(len(outcome.latencies_us) - 1 for outcome in outcomes)
    took_s = sum(outcome.took_s for outcome in outcomes)
    return {
        "p50_us": round(float(p50), 1),
        "p99_us": round(float(p99), 1),
        "msgs_per_s": round(messages / took_s, 1),
    }


def compared(cells: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Ratios of p50, ring / other, over all cells; None if the other was left out."""

    def over(other: str, choose: Callable[[list[float]], float]) -> float | None:
        ratios = [
            each["transports"][RING]["p50_us"] / each["transports"][other]["p50_us"]
            for each in cells
            if other in each["transports"]
        ]
        return round(choose(ratios), 4) if ratios else None

    return {
        "vs_tcp_worst": over("tcp", max),
        "vs_tcp_best": over("tcp", min),
        "vs_unix_worst": over("unix", max),
        "vs_queue_worst": over("queue", max),
        "vs_iceoryx2_median": over("iceoryx2", median),
    }


def table(result: Mapping[str, Any]) -> str:
    lines = [f"cells: {result['cells_of_full']}; each: p50 / p99 in µs, messages a second"]
    names = list(result["cells"][0]["transports"])
    width = 24
    lines.append(f"{'':<26}" + "".join(f"{name:>{width}}" for name in names))
    for each in result["cells"]:
        rate = each["rate_per_s"]
        title = (
            f"{each['size_bytes']} B, {rate}{'' if rate == FLAT_OUT else '/s'}, {each['producers']}"
        )
        found = each["transports"].values()
        shown = [f"{_us(a['p50_us'])} / {_us(a['p99_us'])}, {a['msgs_per_s']:.0f}" for a in found]
        lines.append(f"{title:<26}" + "".join(f"{one:>{width}}" for one in shown))
    lines += [f"{name:<20} {result[name]}" for name in result if name.startswith("vs_")]
    return "\n".join(lines)


def _us(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _named(cell: Cell) -> str:
    rate = FLAT_OUT if cell.rate_per_s is None else f"{cell.rate_per_s}/s"
    return f"{cell.size_bytes} bytes, {rate}, {cell.producers} producers"

"""Drives a pool without Spark: open-loop arrivals, latency counted from the intended send time.

    python -m techniques.pool.workload.driver --topology exclamation --rate 200 --seconds 10 \\
        --instances 2 --cost-us 1000 --slow 0=4 --policy fewest-queued

A chunk is one tuple, as in the papers, unless `--rows` says otherwise. What is planted (costs, slow
instances, hangs) is planted in the first operator of the topology. The driver is one process with
one thread: beyond a few thousand chunks a second it is the driver that is measured.
"""

import argparse
import json
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from techniques.pool import attachment, control
from techniques.pool.kept import Chunk
from techniques.pool.on_spark import made
from techniques.pool.owner import LOOK_S, Owner
from techniques.pool.plan import Operator, Plan
from techniques.pool.policies import BASELINE, POLICIES
from techniques.pool.workload import arrivals
from techniques.pool.workload.heterogeneity import COST, Heterogeneous, skewed_us
from techniques.pool.workload.pauses import Pauses
from techniques.pool.workload.topologies import TOPOLOGIES, Topology

PERCENTILES = (50, 90, 99, 99.9)
# Instances load and warm up before the first arrival.
WARM_UP_CHUNKS = 4


@dataclass(frozen=True)
class Run:
    """One row per arrival, in the order of arrivals."""

    latency_ms: NDArray[np.float64]
    # How much later than intended a chunk left the driver; a part of its latency.
    late_ms: NDArray[np.float64]
    rows: int
    # When the first arrival could have been, CLOCK_MONOTONIC.
    start_s: float = 0.0
    # What the results say in the column that the caller named; 0 where there is no row.
    told: NDArray[np.int64] | None = None

    def percentiles_ms(self) -> dict[str, float]:
        found = np.percentile(self.latency_ms, PERCENTILES)
        return {f"p{p:g}": round(float(ms), 3) for p, ms in zip(PERCENTILES, found, strict=True)}


def drive(
    plan: Plan,
    chunks: Sequence[pa.RecordBatch],
    times_s: arrivals.Times,
    application: str,
    *,
    column: str | None = None,
    begin: Callable[[], None] | None = None,
    watch: Callable[[float], None] | None = None,
) -> Run:
    """Sends chunk i at `times_s[i]`, or as soon after as there is room, and measures latencies.

    `column`: what each result says there (in its first row) goes into `Run.told`. `begin` is called
    just before the first arrival may be due, `watch` often, with the seconds since then.
    """
    if len(chunks) != len(times_s):
        raise ValueError(f"{len(chunks)} chunks for {len(times_s)} arrivals")
    ready = [Chunk.of(each) for each in chunks]
    owner = Owner(application, plan)
    latency_s, late_s = np.zeros(len(ready)), np.zeros(len(ready))
    told = np.zeros(len(ready), np.int64)
    at_of: dict[int, int] = {}
    waiting: deque[int] = deque()
    rows = arrived = done = 0
    try:
        _warm(owner, ready[:1])
        if begin is not None:
            begin()
        start_s = time.monotonic()
        while done < len(ready):
            now_s = time.monotonic() - start_s
            if watch is not None:
                watch(now_s)
            while arrived < len(ready) and times_s[arrived] <= now_s:
                waiting.append(arrived)
                arrived += 1
            while waiting and owner.has_room(ready[waiting[0]]):
                at = waiting.popleft()
                late_s[at] = time.monotonic() - start_s - times_s[at]
                at_of[owner.hand_out(ready[at])] = at
            until_s = times_s[arrived] - now_s if arrived < len(ready) else LOOK_S
            for one in owner.collect(max(0.0, min(until_s, LOOK_S))):
                at = at_of.pop(one.number)
                latency_s[at] = time.monotonic() - start_s - times_s[at]
                if column is not None and one.result.num_rows:
                    told[at] = one.result.column(column)[0].as_py()
                owner.emitted(one)
                rows += one.result.num_rows
                done += 1
            if not owner.outstanding and arrived < len(ready):
                time.sleep(max(0.0, start_s + times_s[arrived] - time.monotonic()))
    finally:
        owner.leave()
    return Run(latency_s * 1000, late_s * 1000, rows, start_s, told if column else None)


def planned(
    topology: Topology,
    *,
    name: str = "bench",
    cost_us: int = 0,
    slow: Mapping[int, float] | None = None,
    hangs: Mapping[int, tuple[int, float]] | None = None,
    burn: bool = False,
    pauses: Pauses | None = None,
    everywhere: bool = False,
    policy: str = BASELINE,
    window: int = 1024,
) -> Plan:
    """Returns a plan. Its window is wide, so that the pool does not hold back the open loop.

    `everywhere`: what is planted is planted in all operators, as if instance i of each were on
    machine i; otherwise in the first only.
    """
    planted = len(topology.operators) if everywhere else 1
    operators: list[Operator] = [
        Heterogeneous(one, cost_us, slow or {}, hangs or {}, burn, pauses) if at < planted else one
        for at, one in enumerate(topology.operators)
    ]
    return made(operators, instances=topology.tasks, name=name, policy=policy, window=window)


def tuples(
    topology: Topology, count: int, rows: int, seed: int, skew_us: tuple[float, float] | None
) -> list[pa.RecordBatch]:
    """Returns `count` chunks; with `skew_us`, each has a cost in its first row."""
    batch = topology.tuples(count * rows, seed)
    if skew_us is not None:
        costs = np.zeros(count * rows, np.int64)
        costs[::rows] = skewed_us(count, *skew_us, seed=seed)
        batch = batch.append_column(COST, pa.array(costs))
    return [batch.slice(at * rows, rows) for at in range(count)]


def ended(application: str, name: str) -> None:
    """Ends the pool now instead of waiting for its idle timeout."""
    attachment.forgotten()
    found = control.running(application, name)
    if found is not None:
        page = found.page()
        supervisor = page.supervisor
        page.close()
        os.kill(supervisor.pid, signal.SIGTERM)


def _warm(owner: Owner, chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        for _ in range(WARM_UP_CHUNKS):
            owner.hand_out(chunk)
    while owner.outstanding:
        for one in owner.collect(LOOK_S):
            owner.emitted(one)


def main(argv: Sequence[str] | None = None) -> int:
    options = _arguments().parse_args(argv)
    topology = TOPOLOGIES[options.topology]
    if options.instances:
        topology = topology.with_tasks(options.instances)
    rate = options.rate or topology.rate_per_s
    if options.trace:
        times_s = arrivals.read_trace(options.trace)
    else:
        times_s = arrivals.poisson(rate, options.seconds, options.seed)
    plan = planned(
        topology,
        cost_us=options.cost_us,
        slow=dict(options.slow),
        hangs=dict(options.hang),
        burn=options.burn,
        policy=options.policy,
    )
    plan = replace(plan, chunk_rows=options.rows)
    chunks = tuples(topology, len(times_s), options.rows, options.seed, options.skew_us)
    application = f"bench-{uuid.uuid4().hex[:12]}"
    try:
        run = drive(plan, chunks, times_s, application)
    finally:
        ended(application, plan.name)
    told = {
        "topology": topology.name,
        "policy": options.policy,
        "instances": topology.tasks,
        "chunks": len(times_s),
        "rate_per_s": round(len(times_s) / max(float(times_s[-1]), 1e-9), 1),
        "latency_ms": run.percentiles_ms(),
        "left_late_ms_p99": round(float(np.percentile(run.late_ms, 99)), 3),
    }
    print(json.dumps(told, indent=2))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m techniques.pool.workload.driver",
        description="An open-loop load on a pool, with planted heterogeneity.",
    )
    parser.add_argument("--topology", choices=sorted(TOPOLOGIES), default="exclamation")
    parser.add_argument("--rate", type=float, help="chunks a second; the paper's if absent")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--trace", type=Path, help="a file with one time in seconds per line")
    parser.add_argument("--instances", type=int, help="of each operator; the paper's if absent")
    parser.add_argument("--rows", type=int, default=1, help="tuples in a chunk")
    parser.add_argument("--policy", choices=sorted(POLICIES), default=BASELINE)
    parser.add_argument("--cost-us", type=int, default=0, help="of every chunk")
    parser.add_argument("--skew-us", type=_pair, help="LEAST,MOST of a chunk's heavy-tailed cost")
    parser.add_argument(
        "--slow", type=_slow, action="append", default=[], help="INSTANCE=TIMES slower"
    )
    parser.add_argument(
        "--hang", type=_hang, action="append", default=[], help="INSTANCE=CHUNK,SECONDS"
    )
    parser.add_argument("--burn", action="store_true", help="costs take a core, not only time")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def _pair(text: str) -> tuple[float, float]:
    least, most = map(float, text.split(","))
    return least, most


def _slow(text: str) -> tuple[int, float]:
    instance, times = text.split("=")
    return int(instance), float(times)


def _hang(text: str) -> tuple[int, tuple[int, float]]:
    instance, when = text.split("=")
    chunk, seconds = when.split(",")
    return int(instance), (int(chunk), float(seconds))


if __name__ == "__main__":
    raise SystemExit(main())

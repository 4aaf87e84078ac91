"""What Curtail costs the job it watches: throughput, batch durations, CPU and memory.

**The job** is the traffic jam example at full speed: batches of one size, the next as soon as the
last is done, RocksDB state, java.nio checkpoints, no sink. Its arms are *bare*, *instrumented*
(probe, collector, Redis, `stamp`) and *event log*, Spark's own record of a run.

**One JVM per run.** A plugin, its threads and its listener are there from the start of a Spark
context to its end, and what the compiler made of a JVM's first minute stays with it: arms that
took turns in one JVM would share both. Every run throws away its first batches. Rounds of one run
per arm follow each other in counterbalanced order; ratios are taken within a round, so that what
the machine does in one minute falls on both sides, and the interval is Student's over rounds.

**Per record**, the other comparison takes turns within one instrumented JVM, as only plans differ:
every row of a stateless stream goes through `stamp`, through `observe` with percentiles of the
latency, through a `mapInArrow` that passes it on, or straight on. `recorder_ns_per_record` is CPU
time of the task threads; what is said of peers is CPU time of all processes, as a Python worker is
one of them. The event log is no such step: its cost is that of the job above, over its rows.

**Memory.** `executor_mb` is what a full collection leaves in the JVM (and what lies outside its
heap), instrumented less bare; executor and driver share that JVM here, so it is both probes
together. `driver_mb` adds the resident size of the collector process.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspark
from redis import Redis

from benchmarks import overhead_job
from benchmarks.ratios import Interval, mean_of, ratio_of
from collectors import keys
from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.testing.running import Running
from dashboard.testing.stack import redis_server

SUMMARY = "what Curtail costs a job: throughput, batch durations, CPU per record, memory"

JOB_ID = keys.job_id(overhead_job.NAME, overhead_job.QUERY)
BARE, OURS, EVENT_LOG = overhead_job.ARMS
# Every order once: no arm is first, last or behind another more often than the rest.
FULL_ROUNDS = (
    (BARE, OURS, EVENT_LOG),
    (EVENT_LOG, OURS, BARE),
    (OURS, EVENT_LOG, BARE),
    (BARE, EVENT_LOG, OURS),
    (EVENT_LOG, BARE, OURS),
    (OURS, BARE, EVENT_LOG),
)
QUICK_ROUNDS = ((BARE, OURS), (OURS, BARE, EVENT_LOG))
FEWEST_ROUNDS = 4
JAM_S = 540
RUN_S = 600
QUIET_LOAD = 0.5

JAM_ROWS, STREAM_ROWS = 10_000, 500_000
QUICK_JAM = ("--batches", "12", "--warm-up", "5")
FULL_JAM = ("--batches", "40", "--warm-up", "20")
QUICK_STREAM = ("--batches", "2", "--warm-up", "1", "--rounds", "2")
FULL_STREAM = ("--batches", "4", "--warm-up", "2", "--rounds", "8")

Run = Mapping[str, Any]


def run(quick: bool) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    with redis_server() as redis:
        rounds = job_rounds(redis.url, quick)
        say(f"per record: {', '.join(overhead_job.WAYS)}")
        blocks = stream(redis.url, quick)
    return {
        **of_the_job(rounds),
        **of_a_record(blocks),
        "peers": peers(rounds, blocks),
        "pairs": len(rounds),
        "machine": machine(load_before),
    }


def table(result: Mapping[str, Any]) -> str:
    cpu = result["cpu_s_per_million_rows"]
    lines = [
        _ratio_line("throughput, instrumented / bare", result, "throughput_ratio"),
        _ratio_line("batch duration p50, instrumented / bare", result, "p50_batch_ratio"),
        _ratio_line("batch duration p99, instrumented / bare", result, "p99_batch_ratio"),
        _line("CPU s per million rows, bare", cpu["bare"]),
        _line("CPU s per million rows, instrumented", cpu["instrumented"]),
        _line("recorder, ns a record", _with_bounds(result, "recorder_ns_per_record")),
        _line("collector, share of one core", result["collector_core_share"]),
        _line("driver, MB", result["driver_mb"]),
        _line("executor, MB", result["executor_mb"]),
        _line("frame, bytes", result["frame_bytes"]),
        "",
        f"{'way of measuring':<42} {'throughput ratio':<24} CPU ns a record",
    ]
    for name, cost in result["peers"].items():
        ratio, ns = (_with_bounds(cost, figure) for figure in ("throughput_ratio", "ns_per_record"))
        lines.append(f"{name:<42} {ratio:<24} {ns}")
    told = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
    lines += ["", f"{result['pairs']} pairs; {told}"]
    if result["machine"]["load_before"] > QUIET_LOAD:
        lines.append("The machine was busy with something else: these are no figures to quote.")
    return "\n".join(lines)


def job_rounds(redis_url: str, quick: bool) -> list[Mapping[str, Run]]:
    """All of them, or on a slow machine as many as the time allows."""
    began_s = time.monotonic()
    rounds: list[Mapping[str, Run]] = []
    for number, order in enumerate(QUICK_ROUNDS if quick else FULL_ROUNDS, 1):
        if number > FEWEST_ROUNDS and time.monotonic() - began_s > JAM_S:
            say(f"this takes long: {len(rounds)} rounds it is")
            break
        say(f"round {number}: {', '.join(order)}")
        rounds.append({arm: jam(arm, redis_url, quick) for arm in order})
    return rounds


def of_the_job(rounds: Sequence[Mapping[str, Run]]) -> dict[str, object]:
    bare, ours = ([round_[arm] for round_ in rounds] for arm in (BARE, OURS))
    # Both probes of a JVM that is driver and executor in one.
    probes_mb = mean_of([b["jvm_mb"] - a["jvm_mb"] for a, b in zip(bare, ours, strict=True)]).mean
    collector_mb = mean_of([run["collector_mb"] for run in ours]).mean
    return {
        **_keys("throughput_ratio", _over(rounds, OURS, rows_per_s), 3),
        **_keys("p50_batch_ratio", _over(rounds, OURS, lambda run: batch_ms(run, 50)), 3),
        **_keys("p99_batch_ratio", _over(rounds, OURS, lambda run: batch_ms(run, 99)), 3),
        "cpu_s_per_million_rows": {
            "bare": round(mean_of([cpu_us_per_row(run) for run in bare]).mean, 2),
            "instrumented": round(mean_of([cpu_us_per_row(run) for run in ours]).mean, 2),
        },
        "collector_core_share": round(mean_of([collector_share(run) for run in ours]).mean, 4),
        "driver_mb": round(collector_mb + probes_mb, 1),
        "executor_mb": round(probes_mb, 1),
        "frame_bytes": round(mean_of([run["frame_bytes"] for run in ours]).mean),
    }


def of_a_record(blocks: Sequence[Mapping[str, Run]]) -> dict[str, object]:
    cost_ns = mean_of(
        [task_ns_per_row(round_["stamp"]) - task_ns_per_row(round_["none"]) for round_ in blocks]
    )
    return _keys("recorder_ns_per_record", cost_ns, 1)


def peers(
    rounds: Sequence[Mapping[str, Run]], blocks: Sequence[Mapping[str, Run]]
) -> dict[str, object]:
    """`stamp` is among them, in the terms of the others."""
    found = {way: _cost(blocks, way, against="none") for way in overhead_job.WAYS if way != "none"}
    with_log = [round_ for round_ in rounds if EVENT_LOG in round_]
    return {**found, EVENT_LOG: _cost(with_log, EVENT_LOG, against=BARE)}


def _cost(rounds: Sequence[Mapping[str, Run]], way: str, against: str) -> dict[str, object]:
    more_us = [cpu_us_per_row(round_[way]) - cpu_us_per_row(round_[against]) for round_ in rounds]
    return {
        **_keys("throughput_ratio", _over(rounds, way, rows_per_s, against), 3),
        **_keys("ns_per_record", mean_of([us * 1000 for us in more_us]), 0),
    }


def rows_per_s(run: Run) -> float:
    return float(run["rows"] / _spent(run, "clock_s"))


def batch_ms(run: Run, percentile: float) -> float:
    return float(np.percentile(run["batch_ms"], percentile))


def cpu_us_per_row(run: Run) -> float:
    return _spent(run, "cpu_s") / float(run["rows"]) * 1e6


def task_ns_per_row(run: Run) -> float:
    return _spent(run, "task_cpu_s") / float(run["rows"]) * 1e9


def collector_share(run: Run) -> float:
    return _spent(run, "collector_cpu_s") / _spent(run, "clock_s")


def jam(arm: str, redis_url: str, quick: bool) -> Run:
    size = QUICK_JAM if quick else FULL_JAM
    words = ("jam", "--arm", arm, "--rows", str(JAM_ROWS), *size)
    result: dict[str, Any] = _run_alone(words, redis_url)
    if arm == OURS:
        result["frame_bytes"] = mean_frame_bytes(
            redis_url, result["began"]["epoch_ms"], result["ended"]["epoch_ms"]
        )
    return result


def stream(redis_url: str, quick: bool) -> list[Mapping[str, Run]]:
    words = ("rows", "--rows", str(STREAM_ROWS), *(QUICK_STREAM if quick else FULL_STREAM))
    rounds: list[list[Run]] = _run_alone(words, redis_url)
    return [{block["way"]: block for block in blocks} for blocks in rounds]


def mean_frame_bytes(redis_url: str, since_ms: int, until_ms: int) -> float:
    entries: Any = Redis.from_url(redis_url).xrange(
        keys.frames(JOB_ID).key, str(since_ms), str(until_ms)
    )
    return mean_of([len(fields[keys.PAYLOAD]) for _, fields in entries]).mean


def machine(load_before: float) -> dict[str, object]:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_bytes / 2**30, 1),
        "load_before": round(load_before, 2),
        "spark": pyspark.__version__,
        "java": java.partition('"')[2].partition('"')[0],
        "python": platform.python_version(),
    }


def say(words: str) -> None:
    print(f"overhead: {words}", file=sys.stderr)


def _run_alone(words: Sequence[str], redis_url: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="curtail-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        where = ("--redis", redis_url, "--folder", name)
        argv = (sys.executable, "-m", overhead_job.__name__, *words, *where)
        env = programs.environ(os.environ, **programs.same_python())
        with Running(Program("run", argv, env, folder / "run.log")) as running:
            code = running.wait(RUN_S)
        if code:
            raise RuntimeError(f"{' '.join(words)} failed:\n{running.said()}")
        return json.loads(running.said(lines=1))


def _spent(run: Run, what: str) -> float:
    return float(run["ended"][what] - run["began"][what])


def _over(
    rounds: Sequence[Mapping[str, Run]],
    arm: str,
    figure: Callable[[Run], float],
    against: str = BARE,
) -> Interval:
    return ratio_of([(figure(round_[arm]), figure(round_[against])) for round_ in rounds])


def _keys(name: str, interval: Interval, digits: int) -> dict[str, object]:
    mean, low, high = interval.rounded(digits)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def _ratio_line(label: str, result: Mapping[str, Any], name: str) -> str:
    interval = Interval(*(result[key] for key in (name, f"{name}_low", f"{name}_high")))
    verdict = "  no measurable difference" if interval.contains(1.0) else ""
    return _line(label, _with_bounds(result, name)) + verdict


def _with_bounds(result: Mapping[str, Any], name: str) -> str:
    low, high = result[f"{name}_low"], result[f"{name}_high"]
    spread = "one pair only" if low is None else f"{low} to {high}"
    return f"{result[name]} ({spread})"


def _line(label: str, value: object) -> str:
    return f"{label:<42} {value}"


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()

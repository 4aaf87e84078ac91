"""What Curtail costs the job it watches: throughput, batch durations, CPU and memory.

**The job** is the traffic jam example at full speed: batches of one size, the next as soon as the
last is done, RocksDB state, java.nio checkpoints, files in memory, no sink. Its arms are *bare*,
*instrumented* (probe, collector, Redis, `stamp`), *no tap*, which is the same without the tap on
state stores, and *event log*, Spark's own record of a run.

**Turns.** Each arm has a JVM of its own, and they take turns of some seconds while the others stand
still (`benchmarks.turns`). A round has one turn of each of its arms, in counterbalanced order;
ratios are taken within a round, so that what the machine does in these seconds falls on both sides,
and the interval is Student's over rounds. Rounds in which other programs used the machine are
thrown away, whatever their result. Effects that are fixed for a whole run, such as what the JIT
inlined in one JVM, are in no interval: two runs may differ by more than their intervals allow.

**Per record**, the other comparison takes turns within the instrumented JVM, as only plans differ:
every row of a stateless stream goes through `stamp`, through `observe` with percentiles of the
latency, through a `mapInArrow` that passes it on, or straight on. `recorder_ns_per_record` is CPU
time of the task threads; what is said of peers is CPU time of all processes, as a Python worker is
one of them. The event log is no such step: its cost is that of the job above, over its rows.

**Memory.** `executor_mb` is what a full collection leaves in the JVM (and what lies outside its
heap), instrumented less bare; executor and driver share that JVM here, so it is both probes
together. `driver_mb` adds the resident size of the collector process.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from redis import Redis

from benchmarks import overhead_job
from benchmarks.arms import JAM_ROWS, Arm, Plan, Round, started, take_turns
from benchmarks.machine import machine
from benchmarks.ratios import Interval, mean_of, ratio_of
from benchmarks.turns import Turn
from collectors.formats import keys
from dashboard.testing.stack import redis_server

SUMMARY = "what Curtail costs a job: throughput, batch durations, CPU per record, memory"

BARE, OURS, NO_TAP, EVENT_LOG = overhead_job.ARMS
QUIET_LOAD = 0.5
# The cores that other programs may use in a round, beyond their median over all turns.
DISTURBED_CORES = 0.1
# With fewer batches the 99th percentile would be the maximum.
P99_BATCHES = 100
OUR_THREADS = "curtail-"

FULL_ROUNDS = ("--warm-up", "2", "--rounds", "5", "--thrown-away", "1")

# The pair that matters is in every round; the others come along in every third.
FULL = Plan(
    orders=(
        (BARE, OURS),
        (OURS, BARE),
        (BARE, OURS, NO_TAP, EVENT_LOG),
        (OURS, BARE),
        (BARE, OURS),
        (EVENT_LOG, NO_TAP, OURS, BARE),
    ),
    warm_up=50,
    settle=1,
    # As many as it takes until RocksDB compacts, so that each turn has its share of that.
    batches=4,
    turns_s=240,
    fewest=1,
    words={OURS: ("--rows", "500000", "--batches", "4", *FULL_ROUNDS)},
)
QUICK = Plan(
    orders=((BARE, OURS, EVENT_LOG), (OURS, BARE)),
    warm_up=2,
    settle=1,
    batches=5,
    turns_s=0,
    fewest=1,
    words={
        BARE: ("--quick",),
        EVENT_LOG: ("--quick",),
        OURS: ("--quick", "--rows", "200000", "--rounds", "1"),
    },
)

Said = Mapping[str, Mapping[str, Any]]


def run(quick: bool) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    plan = QUICK if quick else FULL
    with redis_server() as redis:
        say(f"starting and warming up: {', '.join(plan.arms)}")
        with started(plan, redis.url) as arms:
            say("taking turns")
            rounds = take_turns(plan, arms)
            collector = arms[OURS].collector
            frame_bytes = mean_frame_bytes(redis.url, arms[OURS], turns_of(rounds, OURS))
            say(f"asking, then per record: {', '.join(overhead_job.WAYS)}")
            others = {name: arm.finish() for name, arm in arms.items() if name != OURS}
            said = {**others, OURS: arms[OURS].finish()}
    quiet = undisturbed(rounds)
    blocks = [{block["way"]: block for block in told} for told in said[OURS]["rows"]]
    return {
        **of_the_job(quiet, said, collector),
        "frame_bytes": round(frame_bytes),
        **of_a_record(blocks),
        "peers": {**peers(blocks), EVENT_LOG: _costs(quiet, EVENT_LOG)},
        "arms": arms_of(quiet, collector),
        "pairs": len(quiet),
        "pairs_thrown_away": len(rounds) - len(quiet),
        "machine": machine(load_before),
    }


def undisturbed(rounds: Sequence[Round]) -> list[Round]:
    """The rounds in which no other program used the CPU; all if these are at most half."""
    usual = median(turn.others_cores for round_ in rounds for turn in round_.values())
    quiet = [
        round_
        for round_ in rounds
        if all(turn.others_cores <= usual + DISTURBED_CORES for turn in round_.values())
    ]
    return quiet if 2 * len(quiet) > len(rounds) else list(rounds)


def of_the_job(rounds: Sequence[Round], said: Said, collector: int) -> dict[str, object]:
    jams = {arm: told["jam"] for arm, told in said.items()}
    # Both probes of a JVM that is driver and executor in one.
    probes_mb = jams[OURS]["jvm_mb"] - jams[BARE]["jvm_mb"]
    shares = [turn.process_cores(collector) for turn in turns_of(rounds, OURS)]
    return {
        **_keys("throughput_ratio", over(rounds, OURS, rows_per_s), 4),
        **_keys("p50_batch_ratio", batches_ratio(rounds, jams, 50, at_least=1), 4),
        **_keys("p99_batch_ratio", batches_ratio(rounds, jams, 99, at_least=P99_BATCHES), 3),
        **_keys("cpu_ratio", over(rounds, OURS, cpu_us_per_row), 4),
        "cpu_s_per_million_rows": {
            arm: round(mean_of([cpu_us_per_row(turn) for turn in turns_of(rounds, arm)]).mean, 2)
            for arm in (BARE, OURS)
        },
        "collector_core_share": round(mean_of(shares).mean, 4),
        "driver_mb": round(jams[OURS]["collector_mb"] + probes_mb, 1),
        "executor_mb": round(probes_mb, 1),
    }


def of_a_record(blocks: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    cost_ns = [
        _per_row(round_["stamp"], "task_cpu_s") - _per_row(round_["none"], "task_cpu_s")
        for round_ in blocks
    ]
    return _keys("recorder_ns_per_record", mean_of([1e9 * cost for cost in cost_ns]), 1)


def peers(blocks: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, object]]:
    """The cost of each way of measuring, `stamp` among them, in the same terms."""
    found = {}
    for way in overhead_job.WAYS[1:]:
        pairs = [(round_[way], round_["none"]) for round_ in blocks]
        slower = ratio_of([(_per_row(b, "clock_s"), _per_row(a, "clock_s")) for a, b in pairs])
        more_ns = [1e9 * (_per_row(a, "cpu_s") - _per_row(b, "cpu_s")) for a, b in pairs]
        found[way] = {
            **_keys("throughput_ratio", slower, 3),
            **_keys("ns_per_record", mean_of(more_ns), 0),
        }
    return found


def arms_of(rounds: Sequence[Round], collector: int) -> dict[str, object]:
    """The cost of the parts: the job without one of them, and the cores that each part used."""
    parts = {
        "collector process": [turn.process_cores(collector) for turn in turns_of(rounds, OURS)]
    }
    for turn in turns_of(rounds, OURS):
        for name, cores in turn.thread_cores(OUR_THREADS).items():
            parts.setdefault(name, []).append(cores)
    without = {NO_TAP: _costs(rounds, NO_TAP)} if turns_of(rounds, NO_TAP) else {}
    return {**without, "cores": {name: round(mean_of(c).mean, 4) for name, c in parts.items()}}


def batches_ratio(
    rounds: Sequence[Round], jams: Mapping[str, Any], percentile: float, at_least: int
) -> Interval:
    """The ratio of a percentile, over groups of as many rounds as have `at_least` batches."""
    pairs, together = [], []
    for round_ in rounds:
        together.append(round_)
        durations = [
            [ms for each in together for ms in batch_ms(jams[arm], each[arm])]
            for arm in (OURS, BARE)
        ]
        if all(len(found) >= at_least for found in durations):
            pairs.append(durations)
            together = []
    # A quick run has fewer batches in total: all of it is one group.
    pairs = pairs or [durations]
    points = [[float(np.percentile(found, percentile)) for found in pair] for pair in pairs]
    return ratio_of([(ours, bare) for ours, bare in points])


def batch_ms(jam: Mapping[str, Any], turn: Turn) -> list[int]:
    # The keys come from JSON, so they are strings.
    return [jam["batch_ms"][str(batch)] for batch in range(turn.after + 1, turn.last + 1)]


def over(
    rounds: Iterable[Round], arm: str, figure: Callable[[Turn], float], against: str = BARE
) -> Interval:
    return ratio_of(
        [(figure(round_[arm]), figure(round_[against])) for round_ in rounds if arm in round_]
    )


def rows_per_s(turn: Turn) -> float:
    return turn.batches * JAM_ROWS / turn.clock_s


def cpu_us_per_row(turn: Turn) -> float:
    return turn.cpu_s / (turn.batches * JAM_ROWS) * 1e6


def turns_of(rounds: Iterable[Round], arm: str) -> list[Turn]:
    return [round_[arm] for round_ in rounds if arm in round_]


def mean_frame_bytes(redis_url: str, arm: Arm, turns: Sequence[Turn]) -> float:
    stream = keys.frames(keys.job_id(arm.application, overhead_job.QUERY)).key
    with Redis.from_url(redis_url) as redis:
        found: list[Any] = [
            entry
            for turn in turns
            for entry in redis.xrange(stream, str(turn.began.epoch_ms), str(turn.ended.epoch_ms))
        ]
    return mean_of([len(fields[keys.PAYLOAD]) for _, fields in found]).mean


def table(result: Mapping[str, Any]) -> str:
    cpu = result["cpu_s_per_million_rows"]
    lines = [
        _ratio_line("throughput, instrumented / bare", result, "throughput_ratio"),
        _ratio_line("batch duration p50, instrumented / bare", result, "p50_batch_ratio"),
        _ratio_line("batch duration p99, instrumented / bare", result, "p99_batch_ratio"),
        _ratio_line("CPU per row, instrumented / bare", result, "cpu_ratio"),
        _line("CPU s per million rows, bare", cpu["bare"]),
        _line("CPU s per million rows, instrumented", cpu["instrumented"]),
        _line("recorder, ns a record", _with_bounds(result, "recorder_ns_per_record")),
        _line("collector, share of one core", result["collector_core_share"]),
        _line("driver, MB", result["driver_mb"]),
        _line("executor, MB", result["executor_mb"]),
        _line("frame, bytes", result["frame_bytes"]),
        "",
        f"{'way of measuring':<42} {'throughput ratio':<28} CPU ns a record",
    ]
    for name, cost in result["peers"].items():
        ratio, ns = (_with_bounds(cost, figure) for figure in ("throughput_ratio", "ns_per_record"))
        lines.append(f"{name:<42} {ratio:<28} {ns}")
    if NO_TAP in result["arms"]:
        without = _with_bounds(result["arms"][NO_TAP], "throughput_ratio")
        lines += ["", _line("throughput, without the tap / bare", without)]
    lines += ["", *(_line(f"cores: {part}", c) for part, c in result["arms"]["cores"].items())]
    told = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
    thrown = result["pairs_thrown_away"]
    lines += ["", f"{result['pairs']} pairs, {thrown} more thrown away; {told}"]
    if result["machine"]["load_before"] > QUIET_LOAD:
        lines.append("The machine was busy with something else: these are no figures to quote.")
    return "\n".join(lines)


def say(words: str) -> None:
    print(f"overhead: {words}", file=sys.stderr)


def _costs(rounds: Sequence[Round], arm: str) -> dict[str, object]:
    more_ns = [
        1000 * (cpu_us_per_row(round_[arm]) - cpu_us_per_row(round_[BARE]))
        for round_ in rounds
        if arm in round_
    ]
    return {
        **_keys("throughput_ratio", over(rounds, arm, rows_per_s), 4),
        **_keys("cpu_ratio", over(rounds, arm, cpu_us_per_row), 4),
        **_keys("ns_per_record", mean_of(more_ns), 0),
    }


def _per_row(block: Mapping[str, Any], what: str) -> float:
    return float(block["ended"][what] - block["began"][what]) / float(block["rows"])


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

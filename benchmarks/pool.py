"""The operator pool against plain `mapInArrow`: the same operator, the same rows, the same cores.

One Spark session on two cores, results to `noop`. The two ways take turns; a round has one turn of
each, in alternating order, a ratio is taken within a round, and the interval is Student's over
rounds, on logarithms. The pool has its defaults: four instances, round-robin, two chunks of a task
per instance.

**`noop_rows_ratio`**: what the way through the pool costs. The operator passes its batch on; rows
have six columns and about 60 bytes. Rows per second, pooled / plain. Plain gets Spark's batches of
10 000 rows as they come, the pool cuts them into chunks of 1 024.

**Skew.** A chunk costs 1 to 50 ms (bounded Pareto), four partitions have equally many chunks, and
most of the heavy ones are in one of them. How long the batch takes, pooled / plain.

- `skew_duration_ratio`: a chunk's cost is *waiting*, as for a call of somebody else's service.
  Plain tasks wait for one call after the other, two at a time; the pool has four calls at a time,
  and the heavy partition's among them. `skew_best_ratio` is what four would need at least by what
  plain tasks need at best.
- `skew_cpu_duration_ratio`: the same costs as CPU time. There are two cores for either way, so all
  that can be gained is that both are busy to the end: `skew_cpu_best_ratio` is the work on two
  cores by the longest of the plain tasks.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks import pool_job as job
from benchmarks.machine import machine
from benchmarks.pool_job import PLAIN, POOLED, Case
from benchmarks.ratios import Interval, ratio_of

SUMMARY = "the operator pool against plain mapInArrow: cost of the way, and batches with skew"

INSTANCES = 4


@dataclass(frozen=True)
class Plan:
    noop_rows: int
    noop_rounds: int
    # Rounds that do not count: the JVM compiles, the pools come up.
    noop_warm_up: int
    chunks: int
    skew_rounds: int
    skew_warm_up: int


FULL = Plan(
    noop_rows=2_000_000,
    noop_rounds=10,
    noop_warm_up=4,
    chunks=512,
    skew_rounds=6,
    skew_warm_up=1,
)
QUICK = Plan(
    noop_rows=600_000,
    noop_rounds=3,
    noop_warm_up=2,
    chunks=256,
    skew_rounds=2,
    skew_warm_up=1,
)

# The seconds that each way took in one round.
Round = Mapping[str, float]


def run(quick: bool) -> Mapping[str, object]:
    load_before = os.getloadavg()[0]
    plan = QUICK if quick else FULL
    costs_us = job.skewed_partitions(plan.chunks)
    with job.session() as spark:
        noop = noop_rounds(spark, plan)
        waiting, cpu = (skew_rounds(spark, plan, costs_us, burn) for burn in (False, True))
    plain_s = job.plain_s(costs_us)
    return {
        **keys("noop_rows_ratio", pooled_by_plain(noop, slower_is_less=True)),
        **keys("skew_duration_ratio", pooled_by_plain(waiting)),
        "skew_best_ratio": round(job.shared_s(costs_us, INSTANCES) / plain_s, 3),
        **keys("skew_cpu_duration_ratio", pooled_by_plain(cpu)),
        "skew_cpu_best_ratio": round(job.shared_s(costs_us, job.CORES) / plain_s, 3),
        "noop": {
            "rows": plan.noop_rows,
            "chunk_rows": job.NOOP_CHUNK_ROWS,
            "rows_per_s": {
                way: round(plan.noop_rows / median(turn[way] for turn in noop))
                for way in (PLAIN, POOLED)
            },
            "turns_s": shown(noop),
        },
        "skew": {
            "chunks": plan.chunks,
            "partitions_s": [round(float(part.sum()) / 1e6, 3) for part in costs_us],
            "turns_s": shown(waiting),
            "cpu_turns_s": shown(cpu),
        },
        "instances": INSTANCES,
        "machine": machine(load_before),
    }


def noop_rounds(spark: SparkSession, plan: Plan) -> list[Round]:
    frame = job.orders(spark, plan.noop_rows)
    with job.case(spark, "noop", frame, job.identity, job.NOOP_SCHEMA, plan.noop_rows) as case:
        return taken(case, plan.noop_warm_up, plan.noop_rounds)


def skew_rounds(
    spark: SparkSession, plan: Plan, costs_us: Sequence[Any], burn: bool
) -> list[Round]:
    frame = job.costly_rows(spark, costs_us)
    name, rows = "cpu" if burn else "waiting", plan.chunks * job.SKEW_CHUNK_ROWS
    with job.case(spark, name, frame, job.Costly(burn), job.SKEW_SCHEMA, rows) as case:
        return taken(case, plan.skew_warm_up, plan.skew_rounds)


def taken(case: Case, warm_up: int, rounds: int) -> list[Round]:
    print(f"{case.name}: warming up", file=sys.stderr)
    case.check()
    for order in orders(warm_up):
        for way in order:
            case.turn_s(way)
    print(f"{case.name}: {rounds} rounds", file=sys.stderr)
    return [{way: case.turn_s(way) for way in order} for order in orders(rounds)]


def orders(rounds: int) -> Iterator[tuple[str, str]]:
    """The two ways in alternating order, so that none always comes first."""
    for number in range(rounds):
        yield (PLAIN, POOLED) if number % 2 == 0 else (POOLED, PLAIN)


def pooled_by_plain(rounds: Sequence[Round], slower_is_less: bool = False) -> Interval:
    """The ratio pooled / plain of durations or, with `slower_is_less`, of rates."""
    pairs = [(turn[POOLED], turn[PLAIN]) for turn in rounds]
    return ratio_of([(plain, pooled) for pooled, plain in pairs] if slower_is_less else pairs)


def keys(name: str, interval: Interval) -> dict[str, float | None]:
    mean, low, high = interval.rounded(3)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def shown(rounds: Sequence[Round]) -> dict[str, list[float]]:
    return {way: [round(turn[way], 3) for turn in rounds] for way in (PLAIN, POOLED)}


def table(result: Mapping[str, Any]) -> str:
    rows_per_s, skew = result["noop"]["rows_per_s"], result["skew"]
    lines = [
        f"{'':<26}{'pooled / plain':<26}{PLAIN:>16}{POOLED:>16}",
        _line(result, "noop_rows_ratio", *(f"{rows_per_s[way]:,} rows/s" for way in _WAYS)),
    ]
    for name, turns in (
        ("skew_duration_ratio", "turns_s"),
        ("skew_cpu_duration_ratio", "cpu_turns_s"),
    ):
        lines.append(_line(result, name, *(f"{median(skew[turns][way]):.2f} s" for way in _WAYS)))
    lines += [f"{name:<26}{result[name]}" for name in ("skew_best_ratio", "skew_cpu_best_ratio")]
    return "\n".join(lines)


_WAYS = (PLAIN, POOLED)


def _line(result: Mapping[str, Any], name: str, plain: str, pooled: str) -> str:
    found = f"{result[name]} ({result[f'{name}_low']} to {result[f'{name}_high']})"
    return f"{name:<26}{found:<26}{plain:>16}{pooled:>16}"

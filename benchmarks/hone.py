"""Largest backlog first (Hone, Algorithm 1) on WordCount: Figure 10.

`benchmarks.pool_arms` says how arms take turns. Sentences of 1 to 32 words; `split` makes words of
them, `count` waits 1 ms for each word (the paper's testbed: three nodes), five instances of either
(the paper: ten). Between them sending is what waits: a word travels as a record of 256 bytes, so
that the ring of an instance of `count` holds about 15 sentences, and what finds no room waits in
the outgoing queue of the instance of `split`. Those are the queues that Hone schedules.

The three rates have the proportions of the paper's (1 170, 1 250 and 1 330 a second); the highest
is about what `count` can do, as there: under Storm latencies grew with every tuple.

`mean_latency_ratio`: the mean latency with the signals set every τ, by that without (`tau_ms` 0,
each sends as soon as there is room), per rate and τ. `peers` has what could be done instead: a
shared queue, and the shortest of the queues. `waiting` is the mean number of results in outgoing
queues.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks import pool_arms
from benchmarks.pool_arms import Arm, Load, Round, Shape
from benchmarks.ratios import Interval, ratio_of
from techniques.pool.on_spark import made
from techniques.pool.plan import Operator, Plan
from techniques.pool.workload import driver
from techniques.pool.workload.heterogeneity import spend
from techniques.pool.workload.topologies import LONGEST_SENTENCE, TOPOLOGIES, count, split

SUMMARY = "largest backlog first on WordCount, by rate and τ (Hone, Figure 10)"

OFF = "off"
INSTANCES = 5
WORD_S = 0.001
WORD_BYTES = 256
# What a chunk costs an instance of `count` besides its words, about.
BESIDES_S = 0.0003
PAPERS_RATES = (1_170, 1_250, 1_330)
TAUS_MS = (10, 20, 50, 80, 100, 130)
PAPERS_TAU_MS = 80

FULL = Shape(0, settle_s=1.5, count_s=4.0, rounds=3)
QUICK = Shape(0, settle_s=1.5, count_s=4.0, rounds=2)

PAPER = {"mean_latency_ratio": {"mean": 0.213, "best": 0.078}}


@dataclass
class PaddedSplit:
    """Words as records of a fixed size, as they are between processes that serialize each one."""

    __name__ = "split"

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        words = split(batch)
        padded = pc.utf8_rpad(words.column("word"), WORD_BYTES)
        return words.set_column(words.schema.get_field_index("word"), "word", padded)


@dataclass
class SlowCount:
    """Counts, and waits for every word."""

    __name__ = "count"

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        spend(batch.num_rows * WORD_S, burn=False)
        return count(batch)


def run(quick: bool) -> Mapping[str, object]:
    load_before = pool_arms.load_now()
    shape = QUICK if quick else FULL
    compared = arms((PAPERS_TAU_MS,) if quick else TAUS_MS)
    found: dict[str, list[Round]] = {}
    with Load(planned(), sentences) as load:
        for rate_per_s in rates_per_s()[1:2] if quick else rates_per_s():
            print(f"{rate_per_s} sentences a second", file=sys.stderr)
            own = replace(shape, rate_per_s=rate_per_s)
            found[str(rate_per_s)] = load.rounds(compared, own)
    return {
        **told(found, compared),
        "capacity_per_s": round(capacity_per_s()),
        "paper": PAPER,
        "rounds": shape.rounds,
        "block_s": {"settle": shape.settle_s, "count": shape.count_s},
        "machine": pool_arms.waiting_machine(load_before),
    }


def arms(taus_ms: Sequence[int]) -> tuple[Arm, ...]:
    return (
        Arm(OFF),
        *(Arm(str(tau_ms), settings={"tau_ms": tau_ms}) for tau_ms in taus_ms),
        Arm("fewest_queued", "fewest-queued"),
        Arm("shared_queue", "shared-queue"),
    )


def capacity_per_s() -> float:
    """Sentences a second that the instances of `count` can take at most."""
    return INSTANCES / ((1 + LONGEST_SENTENCE) / 2 * WORD_S + BESIDES_S)


def rates_per_s() -> tuple[int, ...]:
    """In the paper's proportions, the highest at what `count` can do."""
    return tuple(round(capacity_per_s() * each / PAPERS_RATES[-1]) for each in PAPERS_RATES)


def planned() -> Plan:
    operators: list[Operator] = [PaddedSplit(), SlowCount()]
    return made(operators, instances=INSTANCES, name="word-count", window=1024)


def sentences(number: int, seed: int) -> Sequence[pa.RecordBatch]:
    return driver.tuples(TOPOLOGIES["word_count"], number, 1, seed, None)


def told(found: Mapping[str, Sequence[Round]], compared: Sequence[Arm]) -> dict[str, Any]:
    ratios = {
        rate: {arm.name: mean_ratio(rounds, arm.name) for arm in compared if arm.name != OFF}
        for rate, rounds in found.items()
    }
    by_tau = {
        rate: {name: each.rounded(3) for name, each in arms_of.items() if name.isdigit()}
        for rate, arms_of in ratios.items()
    }
    return {
        **{
            f"mean_latency_ratio{end}": {
                rate: {tau: bounds[at] for tau, bounds in each.items()}
                for rate, each in by_tau.items()
            }
            for at, end in enumerate(("", "_low", "_high"))
        },
        "peers": {
            rate: {
                name: pool_arms.keys("mean_latency_ratio", each)
                for name, each in arms_of.items()
                if not name.isdigit()
            }
            for rate, arms_of in ratios.items()
        },
        "waiting": {
            rate: {arm.name: waiting(rounds, arm.name) for arm in compared}
            for rate, rounds in found.items()
        },
        "levels_ms": {rate: pool_arms.levels_ms(rounds) for rate, rounds in found.items()},
        "left_late_ms_p99": max(pool_arms.left_late_ms(rounds) for rounds in found.values()),
    }


def mean_ratio(rounds: Sequence[Round], arm: str) -> Interval:
    return ratio_of(
        [
            (float(each[arm].latency_ms.mean()), float(each[OFF].latency_ms.mean()))
            for each in rounds
        ]
    )


def waiting(rounds: Sequence[Round], arm: str) -> float:
    seen = [sample.waiting for each in rounds for sample in each[arm].counted_samples]
    return round(float(np.mean(seen)), 2)


def table(result: Mapping[str, Any]) -> str:
    lines = [f"{'sentences/s':<14}{'τ, ms':<16}{'mean latency, τ / off':<28}{'waiting':>8}"]
    for rate, by_tau in result["mean_latency_ratio"].items():
        for tau, ratio in by_tau.items():
            low, high = (result[f"mean_latency_ratio_{end}"][rate][tau] for end in ("low", "high"))
            lines.append(_line(rate, tau, (ratio, low, high), result["waiting"][rate][tau]))
        for name, each in result["peers"][rate].items():
            mean, low, high = (each[f"mean_latency_ratio{end}"] for end in ("", "_low", "_high"))
            lines.append(_line(rate, name, (mean, low, high), result["waiting"][rate][name]))
    return "\n".join(lines)


def _line(
    rate: str, name: str, ratio: tuple[float, float | None, float | None], waits: float
) -> str:
    mean, low, high = ratio
    shown = f"{mean}" + (f" ({low} to {high})" if low is not None else "")
    return f"{rate:<14}{name:<16}{shown:<28}{waits:>8}"

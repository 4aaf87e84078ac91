"""Adaptive timeout with selective replay (Du & Gupta, Algorithm 1): Table 2, Table 5, and hangs.

`benchmarks.pool_arms` says how arms take turns. Four cases, each on a pool of its own, with five
instances of every operator, as in the paper:

- `exclamation`, `page_load`, `processing`: the paper's topologies. Every operator waits 1.5 ms for
  a chunk; instances are in use for less than a fifth of their time (the paper: below 49 %). What
  makes the tail is planted: each instance stands still for 20 to 80 ms at random times, 0.6 % of
  its time.
- `hangs`: the exclamation topology whose instances stand still rarely and long: 150 to 250 ms, 0.2
  % of the time. The budget of replays is 3 %.

Arms: `default` (round robin), `adaptive` (the technique, with its default budget of 5 %), `hedge`
(after a fixed p95 of the last second, same budget), `blind_20`, `blind_50` and `blind_100` (so many
percent of chunks are sent twice at once, as in Table 2).

`cost` is chunks sent a second time by chunks sent; `cost_work` is executions beyond one per chunk
and operator, which is less where a queued copy was dropped because the first had finished. The
ratios at the top are those of `exclamation`.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import pool_arms
from benchmarks.pool_arms import Arm, Load, Round, Shape
from techniques.pool.settings import Replay
from techniques.pool.workload import driver
from techniques.pool.workload.pauses import Pauses
from techniques.pool.workload.topologies import TOPOLOGIES

SUMMARY = "adaptive timeout with replay against blind replication and a fixed hedge (Tables 2, 5)"

DEFAULT, ADAPTIVE, HEDGE = "default", "adaptive", "hedge"
EXCLAMATION, PAGE_LOAD, PROCESSING, HANGS = "exclamation", "page_load", "processing", "hangs"
INSTANCES = 5
WAIT_US = 1_500
RATE_PER_S = 300
HANGS_BUDGET = 300  # in 1/100 % of chunks


@dataclass(frozen=True)
class Standing:
    """For how long instances stand still, and for which part of their time."""

    least_s: float
    most_s: float
    share: float

    def pauses(self, path: Path) -> Pauses:
        mean_s = (self.least_s + self.most_s) / 2
        return Pauses(str(path), mean_s * (1 / self.share - 1), self.least_s, self.most_s)


@dataclass(frozen=True)
class Case:
    name: str
    topology: str
    standing: Standing
    arms: tuple[Arm, ...]


def replaying(mode: Replay, budget: int | None = None) -> dict[str, int]:
    return {"replay": int(mode)} | ({} if budget is None else {"replay_budget": budget})


BLIND = {
    f"blind_{percent}": Arm(f"blind_{percent}", settings=replaying(Replay.BLIND, percent * 100))
    for percent in (20, 50, 100)
}
BASE = Arm(DEFAULT)
TECHNIQUE = Arm(ADAPTIVE, settings=replaying(Replay.ADAPTIVE))
OFTEN = Standing(0.020, 0.080, 0.006)
RARELY = Standing(0.150, 0.250, 0.002)
CASES = (
    Case(
        EXCLAMATION,
        "exclamation",
        OFTEN,
        (BASE, TECHNIQUE, Arm(HEDGE, settings=replaying(Replay.HEDGE)), *BLIND.values()),
    ),
    Case(PAGE_LOAD, "page_load", OFTEN, (BASE, TECHNIQUE)),
    Case(PROCESSING, "processing", OFTEN, (BASE, TECHNIQUE)),
    Case(
        HANGS,
        "exclamation",
        RARELY,
        (
            BASE,
            Arm(ADAPTIVE, settings=replaying(Replay.ADAPTIVE, HANGS_BUDGET)),
            Arm(HEDGE, settings=replaying(Replay.HEDGE, HANGS_BUDGET)),
        ),
    ),
)

# A timeout is there after two periods of a second.
FULL = Shape(RATE_PER_S, settle_s=2.5, count_s=9.0, rounds=3)
QUICK = Shape(RATE_PER_S, settle_s=1.5, count_s=1.5, rounds=1)

# Table 2, and the reductions of Table 5 (adaptive timeout, two Yahoo topologies).
PAPER = {
    "exclamation": {
        "adaptive": {"p99_ratio": 0.825, "p999_ratio": 0.867, "cost": 0.0292},
        "blind_20": {"p99_ratio": 0.873, "p999_ratio": 1.146, "cost": 0.2},
        "blind_50": {"p99_ratio": 0.757, "p999_ratio": 1.406, "cost": 0.5},
        "blind_100": {"p99_ratio": 0.613, "p999_ratio": 1.020, "cost": 1.0},
    },
    "yahoo": {"p99_ratio": [0.60, 0.72], "p999_ratio": [0.74, 0.76]},
}


def run(quick: bool) -> Mapping[str, object]:
    load_before = pool_arms.load_now()
    shape = QUICK if quick else FULL
    rounds = {case.name: measured(case, shape, quick) for case in CASES}
    found = {case.name: told(case, rounds[case.name]) for case in CASES}
    main = dict(found[EXCLAMATION])
    peers = main.pop("peers")
    return {
        **{key: main[key] for key in main if key.endswith(("_ratio", "_low", "_high"))},
        "cost": main["cost"],
        "peers": peers,
        "topologies": {name: found[name] for name in (EXCLAMATION, PAGE_LOAD, PROCESSING)},
        "hangs": found[HANGS],
        "paper": PAPER,
        "rate_per_s": shape.rate_per_s,
        "block_s": {"settle": shape.settle_s, "count": shape.count_s},
        "rounds": shape.rounds,
        "machine": pool_arms.waiting_machine(load_before),
    }


def measured(case: Case, shape: Shape, quick: bool) -> list[Round]:
    topology = TOPOLOGIES[case.topology].with_tasks(INSTANCES)

    def chunks(count: int, seed: int) -> Sequence[pa.RecordBatch]:
        return driver.tuples(topology, count, 1, seed, None)

    # With few rounds the quick run has to see what the full one is about.
    standing = replace(case.standing, share=2 * case.standing.share) if quick else case.standing
    with tempfile.TemporaryDirectory() as folder:
        pauses = standing.pauses(Path(folder) / "pauses")
        plan = driver.planned(
            topology,
            name=case.name.replace("_", "-"),
            cost_us=WAIT_US,
            pauses=pauses,
            everywhere=True,
        )
        with Load(plan, chunks, pauses=pauses) as load:
            return load.rounds(case.arms, shape)


def told(case: Case, rounds: Sequence[Round]) -> dict[str, Any]:
    operators = len(TOPOLOGIES[case.topology].steps)

    def of(arm: Arm) -> dict[str, Any]:
        return {
            **pool_arms.ratios(rounds, arm.name, DEFAULT),
            "cost": pool_arms.replay_cost(rounds, arm.name),
            "cost_work": pool_arms.work_cost(rounds, arm.name, operators),
            "won": won(rounds, arm.name),
        }

    return {
        **of(next(arm for arm in case.arms if arm.name == ADAPTIVE)),
        "timeout_ms": timeouts_ms(rounds, ADAPTIVE),
        "peers": {arm.name: of(arm) for arm in case.arms if arm.name not in (DEFAULT, ADAPTIVE)},
        "levels_ms": pool_arms.levels_ms(rounds),
        "left_late_ms_p99": pool_arms.left_late_ms(rounds),
    }


def won(rounds: Sequence[Round], arm: str) -> float | None:
    """Of the second copies, the part whose result came first."""
    ends = [each[arm].counted for each in rounds]
    replayed = sum(last.replayed - first.replayed for first, last in ends)
    return (
        round(sum(last.won - first.won for first, last in ends) / replayed, 3) if replayed else None
    )


def timeouts_ms(rounds: Sequence[Round], arm: str) -> list[float]:
    """The least and the largest timeout in force, in the parts that count."""
    seen = [
        sample.timeout_us / 1000
        for each in rounds
        for sample in each[arm].counted_samples
        if sample.timeout_us
    ]
    return [round(min(seen), 2), round(max(seen), 2)] if seen else []


def table(result: Mapping[str, Any]) -> str:
    lines = [pool_arms.ratio_head("arm / default", "cost, of it work")]
    for name, found in {**result["topologies"], HANGS: result["hangs"]}.items():
        lines.append(f"{name}")
        for arm, each in {ADAPTIVE: found, **found["peers"]}.items():
            cost = f"{each['cost']:.2%}, {each['cost_work']:.2%}"
            lines.append(pool_arms.ratio_line(f"  {arm}", each, cost))
    return "\n".join(lines)

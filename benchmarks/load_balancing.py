"""Latency-based load balancing (Du & Gupta, Algorithm 2): scenarios a, b and c of Table 3.

`benchmarks.pool_arms` says how arms take turns. A chain of three operators with five instances
each; instance i of every operator is on "machine" i. A chunk costs every operator the same: 8 ms,
half of it fixed, half of it exponential; costs are waits (the paper: 200 000 arithmetic
operations). A slower machine needs so many times longer:

- `a`: the paper's scheduler gave four machines three tasks and one two. Here two of five need 1.5
  ×.
- `b`: on two of five another program competes. Here they need 1.9 ×.
- `c`: one of five has one core instead of two. Here it needs 2 ×.

At 275 chunks a second a machine of the first kind is in use for 44 % of its time, one that needs
twice as long for 88 %.

Arms: `round_robin`, `latency_weighted` (the technique: thres 1.2, α 0.5, unit 1 %, but every 500 ms
instead of every 5 s, because a block has seconds and not minutes; it settles before it is counted),
`power_of_two` and `fewest_queued`, which look at queues instead of latencies.

A machine that needs twice as long is slower than `thres` allows even with an empty queue. So
weights do not stop where queues are even, but at the least share of 1 %, after about 20 periods.

`settle_s`: when the last share came within 2 points of its mean over the counted part, for good.
`share_swing`: the most that a share moved within the counted part, in points. Both are of the mean
weights of all dispatchers; `settle_s` is at most the settling part plus the counted part.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import pool_arms
from benchmarks.pool_arms import Arm, Block, Load, Round, Shape
from techniques.pool.policies import BASELINE
from techniques.pool.workload import driver
from techniques.pool.workload.heterogeneity import COST
from techniques.pool.workload.topologies import Step, Topology, pass_on

SUMMARY = "latency-based balancing against round robin, two choices and short queues (Table 3)"

ROUND_ROBIN, WEIGHTED = "round_robin", "latency_weighted"
INSTANCES, OPERATORS = 5, 3
COST_US = 8_000
RATE_PER_S = 275
# Machine → how many times longer it needs.
SCENARIOS: Mapping[str, Mapping[int, float]] = {
    "a": {0: 1.5, 1: 1.5},
    "b": {0: 1.9, 1: 1.9},
    "c": {0: 2.0},
}
WITHIN_POINTS = 2.0

FULL = Shape(RATE_PER_S, settle_s=1.5, count_s=8.0, rounds=3)
QUICK = Shape(RATE_PER_S, settle_s=0.5, count_s=2.0, rounds=1)

# Milliseconds, default and latency-based.
PAPER = {
    "a": {"p90": (11.15, 10.9), "p99": (29.9, 23.5), "p999": (104.5, 57.1)},
    "b": {"p90": (21.05, 9.16), "p99": (92.9, 36.4), "p999": (204.3, 153.1)},
    "c": {"p90": (9.3, 7.67), "p99": (127.8, 62.4), "p999": (598.6, 162.0)},
}


def arms(quick: bool) -> tuple[Arm, ...]:
    period_ms, settle_s = (200, 4.0) if quick else (500, 12.0)
    return (
        # Its queues have to grow to what they are in the long run.
        Arm(ROUND_ROBIN, BASELINE, settle_s=1.0 if quick else 4.0),
        Arm(WEIGHTED, "latency-weighted", {"balance_period_ms": period_ms}, settle_s),
        Arm("power_of_two", "power-of-two"),
        Arm("fewest_queued", "fewest-queued"),
    )


def run(quick: bool) -> Mapping[str, object]:
    load_before = pool_arms.load_now()
    shape, own = QUICK if quick else FULL, arms(quick)
    found: dict[str, object] = {}
    for name, slow in SCENARIOS.items():
        print(f"scenario {name}", file=sys.stderr)
        plan = driver.planned(line(), name=f"balance-{name}", slow=slow, everywhere=True)
        with Load(plan, costly) as load:
            found[name] = told(load.rounds(own, shape), own)
    return {
        **found,
        "paper": {name: papers_ratios(name) for name in PAPER},
        "rate_per_s": shape.rate_per_s,
        "balance_period_ms": own[1].settings["balance_period_ms"],
        "rounds": shape.rounds,
        "machine": pool_arms.waiting_machine(load_before),
    }


def line() -> Topology:
    return Topology("line", (Step(pass_on, INSTANCES),) * OPERATORS, RATE_PER_S, _ids)


def costly(count: int, seed: int) -> Sequence[pa.RecordBatch]:
    numbers = np.random.default_rng((seed, 1))
    costs = (COST_US / 2 + numbers.exponential(COST_US / 2, count)).astype(np.int64)
    batch = _ids(count, seed).append_column(COST, pa.array(costs))
    return [batch.slice(at, 1) for at in range(count)]


def told(rounds: Sequence[Round], compared: Sequence[Arm]) -> dict[str, Any]:
    blocks = [each[WEIGHTED] for each in rounds]
    settled = [settle_s(block) for block in blocks]
    return {
        **pool_arms.ratios(rounds, WEIGHTED, ROUND_ROBIN),
        "settle_s": round(max(settled), 2),
        "share_swing": round(max(share_swing(block) for block in blocks), 2),
        "shares": [round(float(each), 2) for each in np.mean([shares(b) for b in blocks], axis=0)],
        "peers": {
            arm.name: pool_arms.ratios(rounds, arm.name, ROUND_ROBIN)
            for arm in compared
            if arm.name not in (ROUND_ROBIN, WEIGHTED)
        },
        "levels_ms": pool_arms.levels_ms(rounds),
        "left_late_ms_p99": pool_arms.left_late_ms(rounds),
    }


def shares(block: Block) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The mean share of each instance over the counted part, in percent."""
    found: np.ndarray[Any, np.dtype[np.float64]] = np.array(
        [sample.weights for sample in block.counted_samples]
    ).mean(axis=0)
    return found


def share_swing(block: Block) -> float:
    weights = np.array([sample.weights for sample in block.counted_samples])
    return float(np.ptp(weights, axis=0).max())


def settle_s(block: Block) -> float:
    """When the last share was not yet within the band around its mean of the counted part."""
    mean = shares(block)
    for sample in reversed(block.samples):
        if np.abs(np.array(sample.weights) - mean).max() > WITHIN_POINTS:
            return sample.at_s
    return 0.0


def papers_ratios(scenario: str) -> dict[str, float]:
    return {
        f"{name}_ratio": round(balanced / default, 3)
        for name, (default, balanced) in PAPER[scenario].items()
    }


def table(result: Mapping[str, Any]) -> str:
    lines = [pool_arms.ratio_head("arm / round_robin", "settled after, swing")]
    for name in SCENARIOS:
        found = result[name]
        lines.append(name)
        settled = f"{found['settle_s']} s, {found['share_swing']} points"
        lines.append(pool_arms.ratio_line(f"  {WEIGHTED}", found, settled))
        for arm, each in found["peers"].items():
            lines.append(pool_arms.ratio_line(f"  {arm}", each))
    return "\n".join(lines)


def _ids(rows: int, seed: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": np.arange(rows)})

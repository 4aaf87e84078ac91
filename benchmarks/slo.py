"""Henge's evaluation on a simulated cluster: default, manual, and the state machine's two sizings.

`techniques.slo.simulation` has the model of the cluster (`cluster`), its workloads and what of them
is calibrated (`workloads`), and the four arms (`run`). The state machine is the one that runs in
production. Nothing is timed: time is simulated, and the numbers are the same on every machine.

Each workload runs under each arm with several seeds; a figure is the median of the seeds, with the
lowest and the highest as `_low` and `_high`. Satisfaction is the total utility as a share of the
most that the jobs could have, round by round.

- `utility_at_40`, `utility_at_60`: satisfaction in the last ten minutes with that share of the
  machines that the five jobs of figure 1 need when each has a cluster of its own (`cost_curve`).
- `diurnal_mean_satisfaction`: over the 48 hours of the diurnal workload.
- `spike_min_utility`: the lowest satisfaction of any ten seconds from the first spike on.
- `steps_to_converge`, `ds2_steps_to_converge`: actions until the nine jobs of figure 9 were left
  alone for good.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from techniques.slo.simulation import workloads
from techniques.slo.simulation.cluster import Machines
from techniques.slo.simulation.manual import least_machines
from techniques.slo.simulation.run import Arm, Outcome, simulate
from techniques.slo.simulation.workloads import Workload

SUMMARY = "the SLO scheduler (Henge) on a simulated cluster of many jobs, against fixed threads"

PAPER = {
    "utility_at_40": 0.935,
    "utility_at_60": 1.0,
    "diurnal_mean_satisfaction": 0.8812,
    "spike_min_utility": 1.0,
}
QUICK_SEEDS, FULL_SEEDS = 2, 5
# The machines of figure 1 by share of those that single tenants need.
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
# Storm itself has no limit for threads: this many are never reached.
MANY_PLACES_PER_CORE = 64
LAST_S = 600.0
FOUR = (Arm.DEFAULT, Arm.MANUAL, Arm.HENGE, Arm.DS2)
COST_ARMS = (Arm.DEFAULT, Arm.HENGE, Arm.DS2)


@dataclass(frozen=True)
class Case:
    """`quick_seeds` is 0 where only the full run has it: it would take minutes."""

    name: str
    workload: Callable[[], Workload]
    arms: tuple[Arm, ...] = FOUR
    quick_seeds: int = QUICK_SEEDS
    full_seeds: int = FULL_SEEDS


CASES = (
    Case("nine_jobs", workloads.nine_jobs),
    Case("hybrid", workloads.hybrid, quick_seeds=1),
    Case("word_count", workloads.word_count, quick_seeds=0),
    Case("spike", workloads.spike),
    Case("diurnal", workloads.diurnal, quick_seeds=1),
    Case("production", workloads.production, quick_seeds=1),
    Case("failure", workloads.failure),
    Case("growing", workloads.growing, tuple(Arm), quick_seeds=0, full_seeds=1),
    *(
        Case(f"machines_{each}", partial(workloads.cluster_size, each), tuple(Arm), 0, 2)
        for each in (10, 20, 40)
    ),
)


def run(quick: bool) -> Mapping[str, object]:
    chosen = [case for case in CASES if _seeds(case, quick)]
    measured = {case.name: _measured(case, quick) for case in chosen}
    curve = cost_curve(quick)
    henge_at = {point["share"]: point[Arm.HENGE] for point in curve if point["is_limited"]}
    nine = measured["nine_jobs"]
    return {
        **renamed("utility_at_40", henge_at[0.4], "end"),
        **renamed("utility_at_60", henge_at[0.6], "end"),
        **renamed("diurnal_mean_satisfaction", measured["diurnal"][Arm.HENGE], "mean"),
        **renamed("spike_min_utility", measured["spike"][Arm.HENGE], "lowest"),
        **renamed("steps_to_converge", nine[Arm.HENGE], "steps"),
        **renamed("ds2_steps_to_converge", nine[Arm.DS2], "steps"),
        "paper": PAPER,
        "cases": measured,
        "cost_curve": curve,
        "seeds": {case.name: _seeds(case, quick) for case in chosen},
        "is_calibrated": "input of a job, by the default arm of the diurnal workload",
    }


def _seeds(case: Case, quick: bool) -> int:
    return case.quick_seeds if quick else case.full_seeds


def _measured(case: Case, quick: bool) -> dict[str, dict[str, float | None]]:
    return {str(arm): measured(case, arm, _seeds(case, quick)) for arm in case.arms}


def measured(case: Case, arm: Arm, seeds: int) -> dict[str, float | None]:
    print(f"{case.name}: {arm}", file=sys.stderr)
    workload = case.workload()
    return spread([figures(workload, simulate(workload, arm, seed)) for seed in range(seeds)])


def figures(workload: Workload, outcome: Outcome) -> dict[str, float]:
    """What is told of one run; `converged_s` is NaN where it never converged."""
    satisfaction = outcome.satisfaction(workload.judged_from_s)
    return {
        "mean": float(satisfaction.mean()),
        "p15": float(np.quantile(satisfaction, 0.15)),
        "p50": float(np.quantile(satisfaction, 0.5)),
        "p90": float(np.quantile(satisfaction, 0.9)),
        "lowest": float(satisfaction.min()),
        "end": float(outcome.satisfaction(workload.seconds - LAST_S).mean()),
        "steps": len(outcome.actions),
        "converged_s": outcome.converged_s[-1] if outcome.converged_s else float("nan"),
        "threads": float(outcome.threads[-1]),
    }


def spread(runs: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in runs[0]:
        values = np.array([one[name] for one in runs])
        for suffix, value in (
            ("", np.median(values)),
            ("_low", values.min()),
            ("_high", values.max()),
        ):
            found[f"{name}{suffix}"] = None if np.isnan(value) else round(float(value), 6)
    return found


def renamed(key: str, figure: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {f"{key}{suffix}": figure[f"{name}{suffix}"] for suffix in ("", "_low", "_high")}


def cost_curve(quick: bool) -> list[dict[str, Any]]:
    """Figure 1, and once more at 40 % without a limit for threads."""
    jobs = workloads.cost(1).jobs
    needed = sum(least_machines(partial(workloads.alone, job)) for job in jobs)
    points = [(share, Machines.places_per_core) for share in SHARES]
    found = []
    for share, places_per_core in [*points, (0.4, MANY_PLACES_PER_CORE)]:
        machines = max(1, round(share * needed))
        workload = partial(workloads.cost, machines, places_per_core)
        case = Case(f"cost at {share:.0%}", workload, COST_ARMS)
        found.append(
            {
                "share": share,
                "machines": machines,
                "is_limited": places_per_core == Machines.places_per_core,
                **_measured(case, quick),
            }
        )
    return found


def table(result: Mapping[str, Any]) -> str:
    lines = [f"{'':<28}{'seen':<26}{'paper':>7}"]
    for key in (*PAPER, "steps_to_converge", "ds2_steps_to_converge"):
        paper = PAPER.get(key, "")
        lines.append(f"{key:<28}{_range(result, key):<26}{paper:>7}")
    lines += ["", f"{'workload':<16}{'arm':<10}" + "".join(f"{it:>12}" for it in _COLUMNS)]
    for name, arms in result["cases"].items():
        lines += [_line(name, arm, figure) for arm, figure in arms.items()]
    for point in result["cost_curve"]:
        name = f"{point['share']:.0%} cost" + ("" if point["is_limited"] else ", any")
        lines += [_line(name, arm, point[arm]) for arm in Arm if arm in point]
    return "\n".join(lines)


_COLUMNS = ("mean", "p15", "p50", "p90", "lowest", "end", "steps", "converged_s", "threads")


def _range(figure: Mapping[str, Any], name: str) -> str:
    return f"{figure[name]:.3g} ({figure[f'{name}_low']:.3g} to {figure[f'{name}_high']:.3g})"


def _line(name: str, arm: str, figure: Mapping[str, Any]) -> str:
    cells = ("-" if figure[it] is None else f"{figure[it]:.3g}" for it in _COLUMNS)
    return f"{name:<16}{arm:<10}" + "".join(f"{cell:>12}" for cell in cells)

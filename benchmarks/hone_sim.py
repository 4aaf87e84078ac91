"""Hone's simulation (section 4.4, figures 6 to 8): largest backlog first against round robin.

`techniques.largest_backlog.simulation` says how the paper is read. A repetition is the paper's
whole section once: ten rates at ten queues, and ten numbers of queues at 1 000 tuples/s each. The
paper's figures are one such repetition, and its claims are "up to": the best of all settings. So
each headline is a repetition's best, the median of all repetitions, with the range in which 90 %
of them are.

- `max_backlog_reduction`: of the largest backlog of any queue in any slot.
- `mean_delay_reduction`: of the tuples' mean queueing delay.
- `jain_improvement`: Jain's index under largest backlog first by that under round robin, the best
  of all settings and sampled slots. With ten queues no more than 10 is possible.
- `…_by_queues`: the best over the numbers of queues alone, for which the paper has claims of its
  own.
- `next_waiting`: the same three against a round robin that skips empty queues, which the paper does
  not have.

Nothing is timed: the numbers are the same on every machine.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from techniques.largest_backlog import simulation
from techniques.largest_backlog.simulation import Floats, Outcome

SUMMARY = "Hone's simulation: largest backlog first against round robin, by rate and queues"

PAPER = {
    "max_backlog_reduction": 0.833,
    "mean_delay_reduction": 0.898,
    "mean_delay_reduction_by_queues": 0.701,
    "jain_improvement": 10,
    "jain_improvement_by_queues": 1.9,
}
QUICK_REPETITIONS, FULL_REPETITIONS = 10, 100
# As many repetitions are simulated at once; those of a hundred queues take 80 MB.
BATCH = 10
SEED = 2021

LARGEST, TURNS, NEXT_WAITING = simulation.SCHEDULERS


@dataclass(frozen=True)
class Setting:
    queues: int
    rate_per_s: int


BY_RATE = [Setting(simulation.RATE_QUEUES, rate) for rate in simulation.RATES_PER_S]
BY_QUEUES = [Setting(queues, simulation.QUEUES_RATE_PER_S) for queues in simulation.QUEUES]

# What each scheduler did in all repetitions of a setting.
Outcomes = Mapping[str, Outcome]


def run(quick: bool) -> Mapping[str, object]:
    repetitions = QUICK_REPETITIONS if quick else FULL_REPETITIONS
    by_rate, by_queues = (
        [done(each, repetitions) for each in sweep] for sweep in (BY_RATE, BY_QUEUES)
    )
    everything = [*by_rate, *by_queues]
    return {
        **headlines(everything, TURNS),
        **keys("mean_delay_reduction_by_queues", best(by_queues, TURNS, mean_delay_reduction)),
        **keys("jain_improvement_by_queues", best(by_queues, TURNS, jain_improvement)),
        "paper": PAPER,
        NEXT_WAITING: headlines(everything, NEXT_WAITING),
        "by_rate": [shown(*each) for each in zip(BY_RATE, by_rate, strict=True)],
        "by_queues": [shown(*each) for each in zip(BY_QUEUES, by_queues, strict=True)],
        "repetitions": repetitions,
    }


def done(setting: Setting, repetitions: int) -> Outcomes:
    """Simulates the same arrivals under each scheduler."""
    print(f"{setting.queues} queues, {setting.rate_per_s} tuples/s each", file=sys.stderr)
    batches: dict[str, list[Outcome]] = {name: [] for name in simulation.SCHEDULERS}
    for first in range(0, repetitions, BATCH):
        runs = min(BATCH, repetitions - first)
        rng = np.random.default_rng((SEED, setting.queues, setting.rate_per_s, first))
        arriving = simulation.arrivals([setting.rate_per_s] * runs, setting.queues, rng)
        for name, scheduler in simulation.SCHEDULERS.items():
            batches[name].append(simulation.simulate(arriving, scheduler()))
    return {name: joined(parts) for name, parts in batches.items()}


def joined(parts: Sequence[Outcome]) -> Outcome:
    return Outcome(
        np.concatenate([part.max_backlog for part in parts]),
        np.concatenate([part.jain for part in parts]),
        np.concatenate([part.mean_delay_s for part in parts]),
        np.concatenate([part.left for part in parts]),
    )


# Of each repetition of a setting, what the first scheduler gains over the other.
Gain = Callable[[Outcome, Outcome], Floats]


def max_backlog_reduction(ours: Outcome, other: Outcome) -> Floats:
    return 1 - ours.max_backlog / other.max_backlog


def mean_delay_reduction(ours: Outcome, other: Outcome) -> Floats:
    return 1 - ours.mean_delay_s / other.mean_delay_s


def jain_improvement(ours: Outcome, other: Outcome) -> Floats:
    factors: Floats = (ours.jain / other.jain).max(axis=1)
    return factors


GAINS: tuple[Gain, ...] = (max_backlog_reduction, mean_delay_reduction, jain_improvement)


def headlines(settings: Sequence[Outcomes], baseline: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for gain in GAINS:
        found |= keys(gain.__name__, best(settings, baseline, gain))
    return found


def best(settings: Sequence[Outcomes], baseline: str, gain: Gain) -> Floats:
    """Returns the best of all settings in each repetition: the paper's "up to"."""
    gains = np.array([gain(each[LARGEST], each[baseline]) for each in settings])
    highest: Floats = gains.max(axis=0)
    return highest


def keys(name: str, repetitions: Floats) -> dict[str, float]:
    low, middle, high = np.quantile(repetitions, (0.05, 0.5, 0.95))
    return {name: _rounded(middle), f"{name}_low": _rounded(low), f"{name}_high": _rounded(high)}


def shown(setting: Setting, outcomes: Outcomes) -> dict[str, object]:
    """A point of the figures: means over the repetitions."""
    ours = outcomes[LARGEST]
    return {
        "queues": setting.queues,
        "rate_per_s": setting.rate_per_s,
        "max_backlog": {name: _mean(one.max_backlog) for name, one in outcomes.items()},
        "mean_delay_ms": {name: _mean(one.mean_delay_s * 1e3) for name, one in outcomes.items()},
        "jain": {name: _mean(one.jain) for name, one in outcomes.items()},
        "jain_factor": {
            name: _mean(ours.jain / outcomes[name].jain) for name in (TURNS, NEXT_WAITING)
        },
        "left": {name: _mean(one.left) for name, one in outcomes.items()},
    }


def _mean(values: Any) -> float:
    return _rounded(np.mean(values))


def _rounded(value: Any) -> float:
    return round(float(value), 3)


def table(result: Mapping[str, Any]) -> str:
    lines = [f"{'':<34}{'turns (paper: RRB)':<26}{'next_waiting':<26}{'paper':>6}"]
    for name, claim in PAPER.items():
        skipping = _range(result[NEXT_WAITING], name) if name in result[NEXT_WAITING] else ""
        lines.append(f"{name:<34}{_range(result, name):<26}{skipping:<26}{claim:>6}")
    for sweep, column in (("by_rate", "rate_per_s"), ("by_queues", "queues")):
        lines += ["", _head(column), *(_line(point, column) for point in result[sweep])]
    return "\n".join(lines)


def _range(found: Mapping[str, float], name: str) -> str:
    return f"{found[name]:.3g} ({found[f'{name}_low']:.3g} to {found[f'{name}_high']:.3g})"


_FIGURES = ("max_backlog", "mean_delay_ms", "jain")


def _head(column: str) -> str:
    titles = "".join(f"{f'{name}: LBF / RRB / skipping':>36}" for name in _FIGURES)
    return f"{column:<12}{titles}{'jain_factor':>14}"


def _line(point: Mapping[str, Any], column: str) -> str:
    figures = (
        " / ".join(f"{point[name][each]:.4g}" for each in simulation.SCHEDULERS)
        for name in _FIGURES
    )
    cells = "".join(f"{cell:>36}" for cell in figures)
    return f"{point[column]:<12}{cells}{point['jain_factor'][TURNS]:>14.3g}"

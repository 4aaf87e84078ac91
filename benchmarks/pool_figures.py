"""What is made of the blocks of `benchmarks.pool_arms`: ratios, costs, levels, lines of a table."""

import os
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from benchmarks.machine import machine
from benchmarks.pool_arms import Block, Round
from benchmarks.ratios import Interval, ratio_of

PERCENTILES = {"p90": 90.0, "p99": 99.0, "p999": 99.9}
# By so many cores others may use the machine more than usual.
DISTURBED_CORES = 0.3


def undisturbed(rounds: Sequence[Round]) -> list[Round]:
    """Leaves out rounds in which others used the machine much more than they usually did; all
    stay if these are half or less."""
    usual = median(block.others_cores for each in rounds for block in each.values())
    found = [
        each
        for each in rounds
        if all(block.others_cores <= usual + DISTURBED_CORES for block in each.values())
    ]
    return found if 2 * len(found) > len(rounds) else list(rounds)


def quietness(rounds: Sequence[Round], counted: Sequence[Round]) -> dict[str, float]:
    """How the machine was, and how many rounds that left."""
    return {
        "rounds": len(counted),
        "rounds_thrown_away": len(rounds) - len(counted),
        "others_cores_most": round(
            max(block.others_cores for each in counted for block in each.values()), 2
        ),
        "left_late_ms_p99": left_late_ms(counted),
    }


def percentile_ms(block: Block, name: str) -> float:
    return float(np.percentile(block.latency_ms, PERCENTILES[name]))


def ratios(rounds: Sequence[Round], arm: str, baseline: str) -> dict[str, float | None]:
    """The percentiles of an arm by those of the baseline, each with its interval."""
    found: dict[str, float | None] = {}
    for name in PERCENTILES:
        pairs = [
            (percentile_ms(each[arm], name), percentile_ms(each[baseline], name)) for each in rounds
        ]
        found |= keys(f"{name}_ratio", ratio_of(pairs))
    return found


def keys(name: str, interval: Interval) -> dict[str, float | None]:
    mean, low, high = interval.rounded(3)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def replay_cost(rounds: Sequence[Round], arm: str) -> float:
    """Chunks sent a second time by chunks sent, in the parts that count."""
    ends = [each[arm].counted for each in rounds]
    sent = sum(last.sent - first.sent for first, last in ends)
    return round(sum(last.replayed - first.replayed for first, last in ends) / max(1, sent), 4)


def work_cost(rounds: Sequence[Round], arm: str, operators: int) -> float:
    """Executions beyond one per chunk and operator; of a copy that was dropped there is none."""
    ends = [each[arm].counted for each in rounds]
    sent = sum(last.sent - first.sent for first, last in ends)
    executed = sum(last.executed - first.executed for first, last in ends)
    return round(executed / max(1, sent * operators) - 1, 4)


def levels_ms(rounds: Sequence[Round]) -> dict[str, dict[str, float]]:
    """Of each arm, over the chunks of all rounds."""
    found: dict[str, dict[str, float]] = {}
    for name in rounds[0]:
        latency_ms = np.concatenate([each[name].latency_ms for each in rounds])
        drawn = np.percentile(latency_ms, (50, *PERCENTILES.values()))
        levels = dict(zip(("p50", *PERCENTILES), map(float, drawn), strict=True))
        levels |= {"mean": float(latency_ms.mean()), "chunks": len(latency_ms)}
        found[name] = {key: round(value, 2) for key, value in levels.items()}
    return found


def left_late_ms(rounds: Sequence[Round]) -> float:
    """How late chunks left the driver, p99 of all: what it adds to a latency by itself."""
    late_ms = np.concatenate([block.late_ms for each in rounds for block in each.values()])
    return round(float(np.percentile(late_ms, 99)), 3)


def waiting_machine(load_before: float) -> dict[str, object]:
    return {**machine(load_before), "service": "waits, which take no core"}


def load_now() -> float:
    return os.getloadavg()[0]


def ratio_line(name: str, found: Mapping[str, object], *more: str) -> str:
    """A line of a table: the three ratios of one arm with their intervals."""
    cells = [_with_interval(found, f"{each}_ratio") for each in PERCENTILES]
    return f"{name:<24}" + "".join(f"{cell:<24}" for cell in cells) + "  ".join(more)


def ratio_head(title: str, *more: str) -> str:
    return f"{title:<24}" + "".join(f"{name:<24}" for name in PERCENTILES) + "  ".join(more)


def _with_interval(found: Mapping[str, object], name: str) -> str:
    low, high = found[f"{name}_low"], found[f"{name}_high"]
    return f"{found[name]}" + (f" ({low} to {high})" if low is not None else "")

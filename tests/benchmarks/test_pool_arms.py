"""How arms of a pool take turns, and what is made of their blocks."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import pool_arms, pool_figures
from benchmarks.pool_arms import Arm, Floats
from dashboard.cli.bench import summaries
from dashboard.cli.root import ROOT
from techniques.pool.workload.driver import Run
from tests.benchmarks.made_blocks import block, sample

ARMS = [Arm("a"), Arm("b"), Arm("c")]


def names(rounds: int) -> list[str]:
    return ["".join(arm.name for arm in order) for order in pool_arms.orders(ARMS, rounds)]


def test_each_round_has_each_arm_once_and_begins_elsewhere() -> None:
    assert names(4) == ["abc", "acb", "cab", "cba"]
    assert all(sorted(order) == ["a", "b", "c"] for order in names(12))


def test_over_all_rounds_each_arm_has_each_place_equally_often() -> None:
    found = names(6)
    for place in range(3):
        assert sorted(order[place] for order in found) == ["a", "a", "b", "b", "c", "c"]


def test_no_arm_always_follows_the_same_one() -> None:
    after_a = {order[order.index("a") + 1] for order in names(6) if not order.endswith("a")}
    assert after_a == {"b", "c"}


def test_ratios_are_taken_within_a_round() -> None:
    """A slow machine in one round must not look like a slow arm."""
    rounds = [
        {"base": block(np.arange(1000.0) * times), "arm": block(np.arange(1000.0) * times / 2)}
        for times in (1, 10, 3)
    ]
    found = pool_figures.ratios(rounds, "arm", "base")
    for name in ("p90_ratio", "p99_ratio", "p999_ratio"):
        assert found[name] == found[f"{name}_low"] == found[f"{name}_high"] == 0.5


def test_a_single_round_has_no_interval() -> None:
    found = pool_figures.ratios([{"base": block([4.0]), "arm": block([1.0])}], "arm", "base")
    assert (found["p99_ratio"], found["p99_ratio_low"]) == (0.25, None)


def test_cost_is_of_the_part_that_counts() -> None:
    samples = (
        sample(0.0, sent=0, replayed=0, executed=0),
        sample(1.0, sent=100, replayed=50, executed=400),
        sample(2.0, sent=300, replayed=60, executed=1_006),
    )
    rounds = [{"arm": block([1.0], samples)}]
    assert pool_figures.replay_cost(rounds, "arm") == 0.05
    # Of ten copies, two were executed by all three operators.
    assert pool_figures.work_cost(rounds, "arm", operators=3) == pytest.approx(0.01)


def test_dispatchers_share_the_arrivals_and_the_rows_keep_their_order() -> None:
    owners = pool_arms.owner_of(1_000, 5, seed=3)
    assert (owners == pool_arms.owner_of(1_000, 5, seed=3)).all()
    assert min(np.bincount(owners, minlength=5)) > 100
    at = np.arange(1_000.0)
    runs = [
        Run(
            at[owners == one], -at[owners == one], 0, start_s=one, told=_ns(at[owners == one] + one)
        )
        for one in range(5)
    ]
    driven = pool_arms._Driven.of(runs, owners)
    assert (driven.latency_ms == at).all()
    assert (driven.late_ms == -at).all()
    assert driven.began_s == pytest.approx(at)


def _ns(seconds: Floats) -> NDArray[np.int64]:
    return (seconds * 1e9).astype(np.int64)


def test_levels_are_over_all_rounds() -> None:
    rounds = [{"a": block([1.0] * 99)}, {"a": block([101.0])}]
    assert pool_figures.levels_ms(rounds)["a"] == {
        "p50": 1.0,
        "p90": 1.0,
        "p99": 2.0,
        "p999": 91.1,
        "mean": 2.0,
        "chunks": 100,
    }


def test_a_round_beside_somebody_elses_work_does_not_count() -> None:
    quiet, busy = block([1.0]), replace(block([9.0]), others_cores=1.2)
    taken = [{"a": quiet, "b": quiet}, {"a": quiet, "b": busy}, {"a": quiet, "b": quiet}]
    counted = pool_figures.undisturbed(taken)
    assert counted == [taken[0], taken[2]]
    assert pool_figures.quietness(taken, counted) == {
        "rounds": 2,
        "rounds_thrown_away": 1,
        "others_cores_most": 0.0,
        "left_late_ms_p99": 0.1,
    }


def test_where_most_rounds_are_disturbed_all_count_and_the_result_says_so() -> None:
    taken = [{"a": block([1.0]), "b": replace(block([1.0]), others_cores=1.2)}]
    assert pool_figures.undisturbed(taken) == taken
    assert pool_figures.quietness(taken, taken)["others_cores_most"] == 1.2


def test_a_line_shows_intervals_where_there_are_any() -> None:
    found = dict.fromkeys(
        f"{name}_ratio{end}" for name in ("p90", "p99", "p999") for end in ("", "_low", "_high")
    )
    found |= {"p90_ratio": 0.5, "p99_ratio": 0.6, "p999_ratio": 0.7}
    assert pool_figures.ratio_line("arm", found, "more").split() == [
        "arm",
        "0.5",
        "0.6",
        "0.7",
        "more",
    ]
    found |= {"p90_ratio_low": 0.4, "p90_ratio_high": 0.55}
    assert "0.5 (0.4 to 0.55)" in pool_figures.ratio_line("arm", found)


def test_the_pools_benchmarks_are_listed_and_their_helpers_are_not() -> None:
    known = summaries(ROOT / "benchmarks")
    assert {"adaptive_timeout", "shared_queue", "load_balancing", "hone"} <= set(known)
    assert not {"pool_arms", "pool_figures", "ideal_queues"} & set(known)

"""What blocks on a cluster add up to, and the table that is made of it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import cluster
from benchmarks.cluster_engine import Measured
from benchmarks.cluster_figures import Figures, Move
from benchmarks.cluster_regimes import (
    BALANCING,
    DEFAULT,
    EVEN,
    OFF,
    REGIMES,
    SLOW_HOST,
    SPECULATION,
    STALLS,
    Regime,
    asked,
    orders,
    spread,
)
from benchmarks.cluster_results import in_rounds, levels_ms, of_arm, of_copies, of_moves
from collectors.formats.buckets import Histogram
from examples import cluster_counts, noisy_neighbour
from techniques.schema import Settings


def block(
    number: int,
    arm: str,
    batch_ms: Sequence[float] = (500.0,) * 40,
    moves: Sequence[Move] = (),
    copies: int = 0,
) -> Figures:
    latency = Histogram.of([round(ms * 1000) for ms in batch_ms])
    return Figures(
        round=number,
        arm=arm,
        batch_ms=tuple(batch_ms),
        latency=latency,
        tasks=100,
        task_ms=10_000,
        copies=copies,
        copies_won=copies // 2,
        copy_ms=100.0 * copies,
        moves=tuple(moves),
        asked_ms=1_000,
    )


def move(at_ms: float, cost_ms: float | None = 300) -> Move:
    return Move(at_ms, 3, "2", "0", cost_ms)


def test_a_ratio_is_of_all_batches_of_an_arm_together() -> None:
    # One batch of 80 is slow: by far more than 1 %, but less than half of one block's batches.
    slow = (*(500.0,) * 39, 2_000.0)
    figures = [block(n, OFF, slow) for n in range(3)] + [block(n, BALANCING) for n in range(3)]
    found = of_arm(figures, BALANCING)
    assert found is not None
    assert found["p99_batch_ratio"] == pytest.approx(0.25, abs=0.01)
    assert found["p50_batch_ratio"] == 1
    assert found["p99_batch_ratio_high"] == pytest.approx(0.25, abs=0.01)
    assert found["rounds"] == 3


def test_one_round_has_no_interval() -> None:
    found = of_arm([block(0, OFF), block(0, DEFAULT)], DEFAULT)
    assert found is not None
    assert (found["p99_batch_ratio"], found["p99_batch_ratio_low"]) == (1, None)


def test_rounds_that_differ_make_the_interval_wide() -> None:
    figures = [
        each
        for number, ms in enumerate((300.0, 700.0, 450.0, 550.0))
        for each in (block(number, OFF), block(number, DEFAULT, (ms,) * 40))
    ]
    found = of_arm(figures, DEFAULT)
    assert found is not None
    assert found["p50_batch_ratio_low"] < 0.9
    assert found["p50_batch_ratio_high"] > 1.1


def test_a_round_that_lacks_one_of_the_two_does_not_count() -> None:
    figures = [block(0, OFF), block(1, OFF), block(1, DEFAULT), block(2, DEFAULT)]
    assert [one.round for one, _ in in_rounds(figures, DEFAULT)] == [1]
    assert of_arm(figures, BALANCING) is None


def test_copies_cost_their_share_of_task_time() -> None:
    found = of_copies([block(0, SPECULATION, copies=4), block(1, SPECULATION)], SPECULATION)
    assert found == {"cost": 0.02, "copies": 4, "copies_per_task": 0.02, "won": 0.5}


def test_without_copies_nothing_is_won_and_nothing_paid() -> None:
    found = of_copies([block(0, SPECULATION)], SPECULATION)
    assert (found["cost"], found["won"]) == (0, None)


def test_moves_settle_with_the_last_and_their_cost_is_a_median() -> None:
    first = block(0, BALANCING, moves=[move(6_000, 100), move(11_000, 500), move(12_000, 300)])
    second = block(1, BALANCING, moves=[move(21_000, None)])
    found = of_moves([first, second], BALANCING)
    assert found == {"cost": 0.045, "moves": 2, "settle_s": 15.5, "move_cost_ms": 300}


def test_an_arm_without_moves_has_none_and_never_had_to_settle() -> None:
    found = of_moves([block(0, BALANCING)], BALANCING)
    assert found == {"cost": 0, "moves": 0, "settle_s": None, "move_cost_ms": None}


def test_levels_are_told_for_each_arm() -> None:
    found = levels_ms([block(0, OFF), block(0, DEFAULT, (250.0,) * 40)])
    assert {arm: each["p99_batch"] for arm, each in found.items()} == {OFF: 500, DEFAULT: 250}


def test_every_second_round_is_the_one_before_backwards() -> None:
    assert orders((OFF, DEFAULT, BALANCING), 3) == [
        (OFF, DEFAULT, BALANCING),
        (BALANCING, DEFAULT, OFF),
        (DEFAULT, BALANCING, OFF),
    ]


@pytest.mark.parametrize(
    ("arm", "on"), [(OFF, False), (DEFAULT, True), (SPECULATION, False), (BALANCING, False)]
)
def test_spark_s_own_speculation_is_on_in_its_own_arm_only(arm: str, on: bool) -> None:
    settings: dict[str, Settings] = {"live_speculation": {"on": on}}
    assert asked(arm) == settings


def test_partitions_are_put_back_evenly() -> None:
    assert spread(4, ["0", "2", "5"]) == {"places": {"0": "0", "1": "2", "2": "5", "3": "0"}}


@pytest.mark.parametrize("regime", REGIMES.values(), ids=REGIMES)
def test_the_programs_of_a_regime_take_its_options(regime: Regime) -> None:
    assert cluster_counts.arguments().parse_args(regime.words).speculation
    dirs = [Path(f"/work-{host}") for host in range(2, 5)]
    if words := regime.neighbour(dirs, seed=7):
        noisy_neighbour.checked(noisy_neighbour.arguments(), words)
    assert bool(words) == (regime.name != EVEN)


def test_the_result_has_what_was_asked_for_and_is_a_table() -> None:
    moves = [move(6_000)]
    slow = [block(n, arm) for n in range(3) for arm in (OFF, DEFAULT)]
    slow += [block(n, BALANCING, (250.0,) * 40, moves) for n in range(3)]
    stalls = [block(n, arm) for n in range(3) for arm in (OFF, DEFAULT)]
    stalls += [block(n, SPECULATION, (350.0,) * 40, copies=2) for n in range(3)]
    even = [block(n, arm) for n in range(3) for arm in (OFF, BALANCING)]
    measured = {
        EVEN: Measured(tuple(even)),
        SLOW_HOST: Measured(tuple(slow)),
        STALLS: Measured(tuple(stalls)),
    }
    found = cluster.result(measured)
    assert found[BALANCING]["p99_batch_ratio"] == 0.5
    assert found[BALANCING]["settle_s"] == 5
    assert found[SPECULATION]["p99_batch_ratio"] == 0.7
    assert found[SPECULATION]["cost"] == 0.02
    assert found["peers"][DEFAULT]["p99_batch_ratio"] == 1
    assert found["peers"][DEFAULT][SLOW_HOST]["cost"] == 0
    assert found[EVEN]["moves"] == 0
    said = cluster.table(json.loads(json.dumps({**found, "machine": {"cores": 2}})))
    (line,) = [line for line in said.splitlines() if line.startswith("slow host, balancing")]
    assert "0.50 [0.50, 0.50]" in line
    assert line.endswith("1 moves, settled after 5 s, 300 ms a move")


def test_what_was_refused_is_not_measured_and_the_table_says_why() -> None:
    off = Measured((block(0, OFF),), {BALANCING: "refused: one executor"})
    found = cluster.result({EVEN: off, SLOW_HOST: off, STALLS: Measured((block(0, OFF),))})
    assert found[BALANCING] is None
    said = cluster.table(json.loads(json.dumps({**found, "machine": {"cores": 2}})))
    assert "slow_host, balancing: left out, refused: one executor" in said
    (line,) = [line for line in said.splitlines() if line.startswith("stalls, speculation")]
    assert line.endswith("not measured")

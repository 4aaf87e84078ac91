"""What the benchmarks of the pool's four techniques tell, and what their loads are."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import adaptive_timeout, hone, load_balancing, pool_arms, shared_queue
from benchmarks.pool_arms import Arm, Round, Shape
from techniques.pool.plan import Plan
from techniques.pool.policies import POLICIES
from techniques.pool.settings import checked
from techniques.pool.workload import arrivals, driver
from techniques.pool.workload.heterogeneity import COST
from tests.benchmarks.made_blocks import block, sample

RATIOS = [f"{name}_ratio{end}" for name in ("p90", "p99", "p999") for end in ("", "_low", "_high")]


def all_arms() -> list[Arm]:
    return [
        *(arm for case in adaptive_timeout.CASES for arm in case.arms),
        *shared_queue.ARMS,
        *load_balancing.arms(quick=False),
        *hone.arms(hone.TAUS_MS),
    ]


@pytest.mark.parametrize("arm", all_arms(), ids=lambda arm: arm.name)
def test_every_arm_can_be_put_in_force(arm: Arm) -> None:
    assert arm.policy in POLICIES
    for name, value in arm.settings.items():
        checked(name, value)


def made_rounds(arms: Sequence[Arm], latency_ms: Mapping[str, float]) -> list[Round]:
    samples = (
        sample(0.0, weights=(20.0, 20.0)),
        sample(1.0, sent=100, replayed=0, executed=300, busy_ns=10**9, weights=(12.0, 28.0)),
        sample(
            2.0,
            sent=200,
            replayed=4,
            won=3,
            executed=612,
            busy_ns=2 * 10**9,
            timeout_us=8_000,
            waiting=6,
            weights=(13.0, 27.0),
        ),
    )
    return [
        {
            arm.name: block(
                np.full(100, latency_ms.get(arm.name, 1.0)), samples, waited_ms=[0.5] * 100
            )
            for arm in arms
        }
        for _ in range(2)
    ]


def test_adaptive_timeout_tells_ratios_costs_and_alternatives_of_each_topology() -> None:
    first = adaptive_timeout.CASES[0]
    found = adaptive_timeout.told(first, made_rounds(first.arms, {"default": 4.0}))
    assert set(RATIOS) < set(found)
    assert (found["p99_ratio"], found["cost"], found["won"]) == (0.25, 0.04, 0.75)
    assert found["cost_work"] == pytest.approx(0.04)
    assert found["timeout_ms"] == [8.0, 8.0]
    assert list(found["peers"]) == ["hedge", "blind_20", "blind_50", "blind_100"]


def test_adaptive_timeout_has_the_keys_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        adaptive_timeout,
        "measured",
        lambda case, shape, quick: made_rounds(case.arms, {"default": 2.0}),
    )
    monkeypatch.setattr(pool_arms, "machine", lambda load_before: {})
    result = adaptive_timeout.run(quick=True)
    json.dumps(result)
    assert {"p90_ratio", "p99_ratio", "p999_ratio", "cost", "peers", "topologies"} < set(result)
    topologies = result["topologies"]
    assert isinstance(topologies, dict)
    assert set(topologies) == {"exclamation", "page_load", "processing"}
    assert "hangs" in result
    shown = adaptive_timeout.table(result)
    assert "blind_100" in shown
    assert "processing" in shown
    assert "4.00%" in shown


def test_instances_stand_still_for_the_share_that_was_said(tmp_path: Path) -> None:
    for standing in (adaptive_timeout.OFTEN, adaptive_timeout.RARELY):
        pauses = standing.pauses(tmp_path / "pauses")
        assert pauses.share == pytest.approx(standing.share)


def test_nothing_in_the_adaptive_case_is_busy_for_half_of_its_time() -> None:
    busy = adaptive_timeout.RATE_PER_S / adaptive_timeout.INSTANCES * adaptive_timeout.WAIT_US / 1e6
    assert busy < 0.49


def test_shared_queue_tells_delays_beside_theory() -> None:
    shape = Shape(rate_per_s=100, settle_s=1.0, count_s=1.0, rounds=2)
    found = shared_queue.told(made_rounds(shared_queue.ARMS, {"separate": 2.0}), shape)
    assert {*RATIOS, "queue_delay_ratio", "erlang_c_error", "ideal_error"} < set(found)
    assert found["p99_ratio"] == 0.5
    assert found["queue_delay_ratio"] == 1.0
    # One second of work on 312 executions; 100 arrivals a second.
    assert found["service_ms_seen"] == pytest.approx(1000 / 312, abs=0.001)
    assert found["utilisation_seen"] == pytest.approx(100 / 312 / 4, abs=0.001)


def test_an_error_is_relative_to_what_was_predicted() -> None:
    assert shared_queue.error(2.0, 1.5) == 0.25
    assert shared_queue.error(None, 1.5) is None


def test_ideal_queues_get_the_arrivals_that_the_pool_got() -> None:
    shape = Shape(rate_per_s=312, settle_s=0.0, count_s=30.0, rounds=2)
    ideal = shared_queue.ideal_ms(shape, shared_queue.SERVICE_S)
    assert 2 < ideal["shared"] < 0.6 * ideal["separate"]
    chunks = shared_queue.costly(len(arrivals.poisson(312, 30.0, seed=1)), 1)
    costs_us = [chunk.column(COST)[0].as_py() for chunk in chunks]
    assert costs_us == shared_queue.service_us(len(chunks), 1).tolist()
    assert np.mean(costs_us) == pytest.approx(10_000, rel=0.05)


def test_load_balancing_tells_when_shares_settled_and_how_far_they_swing() -> None:
    arms = load_balancing.arms(quick=True)
    found = load_balancing.told(made_rounds(arms, {"round_robin": 5.0}), arms)
    assert set(RATIOS) < set(found)
    assert found["p999_ratio"] == 0.2
    assert (found["settle_s"], found["share_swing"]) == (0.0, 1.0)
    assert found["shares"] == [12.5, 27.5]
    assert set(found["peers"]) == {"power_of_two", "fewest_queued"}


def test_shares_that_still_move_have_not_settled() -> None:
    weights = [(20.0, 20.0), (18.0, 22.0), (15.1, 24.9), (14.0, 26.0), (15.0, 25.0)]
    taken = block([1.0], tuple(sample(at / 2, weights=each) for at, each in enumerate(weights)))
    assert load_balancing.share_swing(taken) == pytest.approx(1.1)
    assert load_balancing.settle_s(taken) == 0.5


def test_the_papers_table_stands_beside_ours() -> None:
    assert load_balancing.papers_ratios("b") == {
        "p90_ratio": 0.435,
        "p99_ratio": 0.392,
        "p999_ratio": 0.749,
    }


def test_no_scenario_overloads_a_machine_under_round_robin() -> None:
    each_per_s = load_balancing.RATE_PER_S / load_balancing.INSTANCES
    for slow in load_balancing.SCENARIOS.values():
        assert each_per_s * load_balancing.COST_US / 1e6 * max(slow.values()) < 0.9


def test_hone_tells_a_ratio_per_rate_and_tau() -> None:
    arms = hone.arms((10, 80))
    rounds = made_rounds(arms, {"off": 10.0, "10": 5.0, "80": 2.0, "shared_queue": 1.0})
    found = hone.told({"260": rounds}, arms)
    assert found["mean_latency_ratio"] == {"260": {"10": 0.5, "80": 0.2}}
    assert found["mean_latency_ratio_low"] == {"260": {"10": 0.5, "80": 0.2}}
    assert found["peers"]["260"]["shared_queue"]["mean_latency_ratio"] == 0.1
    assert found["waiting"]["260"]["80"] == 3.0
    shown = hone.table(found)
    assert "0.2 (0.2 to 0.2)" in shown
    assert "fewest_queued" in shown


def test_the_rates_have_the_papers_proportions_and_end_at_what_count_can_do() -> None:
    low, middle, high = hone.rates_per_s()
    assert low / high == pytest.approx(1_170 / 1_330, rel=0.01)
    assert middle / high == pytest.approx(1_250 / 1_330, rel=0.01)
    assert high == round(hone.capacity_per_s())


def test_split_sends_words_of_a_fixed_size() -> None:
    made = hone.PaddedSplit()(pa.RecordBatch.from_pydict({"id": [1], "sentence": ["two words"]}))
    words = made.column("word").to_pylist()
    assert [word.strip() for word in words] == ["two", "words"]
    assert {len(word) for word in words} == {hone.WORD_BYTES}
    counted = hone.SlowCount()(made)
    assert sorted(counted.column("count").to_pylist()) == [1, 1]


def test_what_is_planted_everywhere_is_in_all_operators() -> None:
    everywhere, first = (
        driver.planned(load_balancing.line(), slow={0: 2.0}, everywhere=each)
        for each in (True, False)
    )
    assert [b"Heterogeneous" in stage.pickled for stage in everywhere.stages] == [True] * 3
    assert [b"Heterogeneous" in stage.pickled for stage in first.stages] == [True, False, False]
    assert [stage.name for stage in everywhere.stages] == ["pass_on", "pass_on.2", "pass_on.3"]


def test_the_chains_have_names_that_a_pool_accepts() -> None:
    plans: list[Plan] = [hone.planned(), shared_queue.planned()]
    assert [[stage.name for stage in plan.stages] for plan in plans] == [
        ["split", "count"],
        ["pass_on"],
    ]

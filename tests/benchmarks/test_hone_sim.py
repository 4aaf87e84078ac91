"""What the benchmark of Hone's simulation makes of its repetitions."""

import json
from typing import Any

import numpy as np
import pytest

from benchmarks import hone_sim
from benchmarks.hone_sim import LARGEST, NEXT_WAITING, TURNS, Setting
from dashboard.cli.bench import summaries
from dashboard.cli.root import ROOT
from techniques.largest_backlog.simulation import Outcome


def outcome(max_backlog: list[int], delay_s: list[float], jain: list[list[float]]) -> Outcome:
    return Outcome(np.array(max_backlog), np.array(jain), np.array(delay_s), np.array([0, 0]))


# Two repetitions each.
HALF = {
    LARGEST: outcome([2, 3], [0.1, 0.2], [[1.0, 0.2], [0.5, 0.5]]),
    TURNS: outcome([8, 6], [1.0, 1.0], [[0.1, 0.4], [0.5, 0.25]]),
}
FULL = {
    LARGEST: outcome([10, 10], [1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]]),
    TURNS: outcome([20, 100], [2.0, 2.0], [[0.5, 0.5], [0.25, 0.5]]),
}


def test_it_is_found_by_the_front_door() -> None:
    assert "hone_sim" in summaries(ROOT / "benchmarks")


def test_the_best_is_that_of_each_repetition_over_all_settings() -> None:
    settings = [HALF, FULL]
    backlog = hone_sim.best(settings, TURNS, hone_sim.max_backlog_reduction)
    assert backlog.tolist() == pytest.approx([0.75, 0.9])
    delay = hone_sim.best(settings, TURNS, hone_sim.mean_delay_reduction)
    assert delay.tolist() == pytest.approx([0.9, 0.8])
    jain = hone_sim.best(settings, TURNS, hone_sim.jain_improvement)
    assert jain.tolist() == pytest.approx([10, 4])


def test_a_headline_is_the_median_with_the_range_of_most() -> None:
    found = hone_sim.keys("gain", np.arange(101) / 100)
    assert found == {"gain": 0.5, "gain_low": 0.05, "gain_high": 0.95}


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hone_sim, "BY_RATE", [Setting(10, 500), Setting(10, 1_000)])
        patch.setattr(hone_sim, "BY_QUEUES", [Setting(10, 1_000)])
        patch.setattr(hone_sim, "QUICK_REPETITIONS", 3)
        patch.setattr(hone_sim, "BATCH", 2)
        return dict(hone_sim.run(quick=True))


def test_a_run_has_the_promised_keys_and_is_json(result: dict[str, Any]) -> None:
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    for name in ("max_backlog_reduction", "mean_delay_reduction", "jain_improvement"):
        assert result[f"{name}_low"] <= result[name] <= result[f"{name}_high"]
        assert name in result["paper"]
        assert name in result[NEXT_WAITING]
    assert [point["rate_per_s"] for point in result["by_rate"]] == [500, 1_000]
    assert [point["queues"] for point in result["by_queues"]] == [10]
    # The same arrivals in both tables, and in every run.
    assert result["by_rate"][1] == result["by_queues"][0]


def test_the_table_has_the_papers_claims_beside(result: dict[str, Any]) -> None:
    shown = hone_sim.table(result)
    assert all(str(claim) in shown for claim in (0.833, 0.898, 0.701, 10, 1.9))
    assert "by_rate" not in shown
    assert len(shown.splitlines()) == 1 + 5 + (2 + 2) + (2 + 1)

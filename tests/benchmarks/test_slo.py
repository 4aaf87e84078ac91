"""The shape of what the benchmark of the SLO scheduler says."""

import json
from typing import Any

import numpy as np
import pytest

from benchmarks import slo
from dashboard.cli.bench import summaries
from dashboard.cli.root import ROOT
from techniques.slo.memory import Kind
from techniques.slo.simulation.run import PARAMETERS, ROUND_S, Arm, Outcome, Taken
from techniques.slo.simulation.workloads import Workload


def test_it_is_found_by_the_front_door() -> None:
    assert "slo" in summaries(ROOT / "benchmarks")


def test_a_figure_is_the_median_of_the_seeds_with_their_range() -> None:
    found = slo.spread([{"end": 0.5}, {"end": 0.9}, {"end": 0.8}])
    assert found == {"end": 0.8, "end_low": 0.5, "end_high": 0.9}


def test_what_never_converged_has_no_time() -> None:
    found = slo.spread([{"converged_s": float("nan")}, {"converged_s": 900.0}])
    assert found["converged_s"] is None


def simulated(workload: Workload, arm: Arm, seed: int) -> Outcome:
    """A run without a cluster: half of the utility, and one action under the state machine."""
    rounds = round(workload.seconds / ROUND_S)
    most = np.array([job.objective.priority for job in workload.jobs])
    acts = arm in PARAMETERS
    return Outcome(
        jobs=tuple(job.name for job in workload.jobs),
        ends_s=ROUND_S * np.arange(1.0, rounds + 1, dtype=np.float64),
        utilities=np.tile(most / 2, (rounds, 1)),
        most=most,
        threads=np.full(rounds, 7.0),
        actions=(Taken(900.0, Kind.RECONFIGURATION, ("T1",)),) if acts else (),
        converged_s=(960.0,) if acts else (),
    )


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slo, "simulate", simulated)
        return dict(slo.run(quick=True))


def test_a_run_has_the_promised_keys_and_is_json(result: dict[str, Any]) -> None:
    promised = {
        "utility_at_40",
        "utility_at_60",
        "diurnal_mean_satisfaction",
        "spike_min_utility",
        "steps_to_converge",
        "ds2_steps_to_converge",
    }
    read = json.loads(json.dumps(result))
    for key in promised:
        assert read[f"{key}_low"] <= read[key] <= read[f"{key}_high"]
    assert (read["utility_at_40"], read["ds2_steps_to_converge"]) == (0.5, 1)
    assert set(read["cases"]["spike"]) == set(slo.FOUR)
    assert [point["share"] for point in read["cost_curve"]] == [0.2, 0.4, 0.6, 0.8, 1.0, 0.4]


def test_the_table_has_a_line_for_each_workload_and_arm(result: dict[str, Any]) -> None:
    lines = slo.table(result).splitlines()
    assert sum(line.startswith("diurnal ") for line in lines) == len(slo.FOUR)

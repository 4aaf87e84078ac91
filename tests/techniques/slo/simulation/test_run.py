"""Workloads under the state machine, as far as a few seconds show it."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.slo.memory import Kind
from techniques.slo.simulation import workloads
from techniques.slo.simulation.manual import least_machines
from techniques.slo.simulation.run import Arm, Outcome, simulate
from techniques.slo.simulation.workloads import EPA, NOMINAL_PER_S, TRACE_HOUR_S


@pytest.fixture(scope="module")
def nine() -> Outcome:
    return simulate(replace(workloads.nine_jobs(), seconds=2400.0), Arm.HENGE, seed=1)


def test_the_nine_jobs_are_served_highest_utility_first_and_then_all_meet_their_slos(
    nine: Outcome,
) -> None:
    served = [each.jobs for each in nine.actions if each.kind is Kind.RECONFIGURATION]
    first_times = list(dict.fromkeys(served))
    assert first_times[0] == ("T9",)
    assert first_times == sorted(first_times, reverse=True)
    assert nine.satisfaction(2000.0).mean() == pytest.approx(1.0, abs=0.01)


def test_nothing_acts_before_it_may(nine: Outcome) -> None:
    assert nine.actions[0].at_s >= workloads.HELD_BACK_S
    assert nine.satisfaction(0.0, 800.0).mean() < 0.6


def test_a_seed_decides_the_run(nine: Outcome) -> None:
    short = replace(workloads.cost(2), seconds=1200.0)
    one, same, other = (simulate(short, Arm.DS2, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.utilities, same.utilities)
    assert one.actions == same.actions
    assert not np.array_equal(one.utilities, other.utilities)


def test_never_are_there_more_threads_than_the_cluster_has_places_for() -> None:
    workload = replace(workloads.cost(1), seconds=1800.0)
    outcome = simulate(workload, Arm.HENGE, seed=0)
    assert outcome.actions
    assert outcome.threads.max() <= workload.machines.places


def test_nothing_is_done_while_nothing_is_known() -> None:
    workload = replace(workloads.failure(), seconds=1700.0)
    outcome = simulate(workload, Arm.HENGE, seed=0)
    assert workload.blind_s is not None
    first, last = workload.blind_s
    assert [each for each in outcome.actions if each.at_s < first]
    # Data is collected for five minutes after it is back.
    assert not [each for each in outcome.actions if first <= each.at_s < last + 300.0]


def test_manual_configuration_meets_all_slos_at_the_load_it_is_made_for() -> None:
    workload = replace(workloads.cost(5), seconds=1200.0)
    assert simulate(workload, Arm.MANUAL, seed=0).satisfaction(900.0).mean() == pytest.approx(1.0)


def test_single_tenants_of_figure_one_need_a_machine_each() -> None:
    job = workloads.cost(1).jobs[0]
    assert least_machines(lambda machines: workloads.alone(job, machines)) == 1


def test_a_day_rises_from_hour_seven_to_its_peak_and_falls_again() -> None:
    rate = workloads.diurnal_rate(EPA)
    hours = [rate(hour * TRACE_HOUR_S) / NOMINAL_PER_S for hour in (0, 7, 10, 13 + 1 / 3, 18, 22)]
    assert hours[0] == hours[1] == hours[5] == 1.0
    assert 1.0 < hours[2] < hours[3] == pytest.approx(EPA.peak)
    assert 1.0 < hours[4] < hours[3]


def test_the_production_mix_has_the_papers_proportions() -> None:
    mix = workloads.production()
    threads = {job.name: sum(job.threads.values()) for job in mix.jobs}
    assert threads["T5"] == 7
    assert threads["T1"] / threads["T5"] == pytest.approx(1729 / 18, rel=0.05)
    assert mix.median_per_s["T1"] == pytest.approx(234 * mix.median_per_s["T5"])
    assert sum(threads.values()) <= mix.machines.places

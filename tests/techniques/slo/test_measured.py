import numpy as np
import pytest

from techniques.slo.measured import NOTHING, estimated_ms, measured
from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Statistic
from tests.techniques.slo.views import FAST, KEEPING_UP, job

ALL = slice(None)


def test_a_latency_slo_is_judged_by_the_latency_that_it_is_about() -> None:
    now = measured(job(latency_ms=200.0))

    assert (now.latency_ms, now.utility, now.meets) == (200.0, 17.5, False)
    assert now.juice is None, "it is no part of it"


def test_a_hybrid_is_judged_by_both() -> None:
    both = Objective(LatencyTarget(100), JuiceTarget(1.0), 10)
    now = measured(job(objective=both, latency_ms=200.0, backlog=(0, 250 * 120)))

    assert now.utility == pytest.approx((5 + 8) / 2, rel=0.01)


def test_where_nothing_completed_in_ten_seconds_the_last_minute_tells() -> None:
    now = measured(job(latency_ms=80.0, objective_ms=None))

    assert now.latency_ms == pytest.approx(80.0, rel=1e-3)


def test_a_job_without_input_is_not_late_and_one_that_stands_still_is() -> None:
    idle = measured(job(records_per_s=0, objective_ms=None))
    stuck = measured(job(records_per_s=0, objective_ms=None, backlog=(50, 50)))

    assert idle.meets is True
    assert stuck.meets is False
    assert stuck.latency_ms == 60_000


@pytest.mark.parametrize("objective", [FAST, KEEPING_UP])
def test_without_frames_nothing_is_known(objective: Objective) -> None:
    assert measured(job(objective=objective, seconds=20)) == NOTHING
    silent = job(objective=objective)
    silent.waiting_tasks[-700:] = np.nan
    assert measured(silent) == NOTHING
    assert measured(job(objective=None)) == NOTHING


def test_percentiles_of_windows_are_merged_by_their_records_not_averaged() -> None:
    view = job(latency_ms=10.0)
    # Every fiftieth window has records a hundred times as slow: 2 % of all.
    for values in (view.p50_ms, view.p99_ms, view.p999_ms):
        values[::50] = 1_000.0

    p99, p95 = (estimated_ms(view, each, ALL) for each in (Statistic.P99, Statistic.P95))

    assert p99 == pytest.approx(1_000, rel=0.01)
    assert p95 is not None
    assert 5 < p95 <= 10.1


def test_the_estimate_of_a_single_distribution_is_that_distribution() -> None:
    view = job(latency_ms=100.0)

    assert estimated_ms(view, Statistic.P99, ALL) == pytest.approx(100, rel=1e-3)
    assert estimated_ms(view, Statistic.P999, ALL) == pytest.approx(200, rel=1e-3)
    assert estimated_ms(view, Statistic.MEAN, ALL) == pytest.approx(
        0.5 * 50 + 0.49 * 75 + 2, rel=1e-3
    )
    assert estimated_ms(job(records_per_s=0), Statistic.P99, ALL) is None

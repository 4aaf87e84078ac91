"""Planted steps are found where they are; rhythm, noise with a memory and incidents are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.analysis.change_points import (
    DAY_MS,
    HOUR_MS,
    ChangePoint,
    change_points,
    corrected,
)
from techniques.intervals import Floats
from tests.techniques.analysis.noise import hourly

START_MS = 1_700_000_000_000 // DAY_MS * DAY_MS


def found(values: Floats) -> tuple[ChangePoint, ...]:
    return change_points(START_MS, HOUR_MS, values)


@pytest.mark.parametrize("seed", range(10))
def test_a_step_in_a_job_with_a_daily_rhythm_is_found_within_hours(seed: int) -> None:
    (change,) = found(hourly(seed, jump=1.4))

    assert abs(change.at_ms - START_MS - 84 * HOUR_MS) <= 3 * HOUR_MS
    assert change.from_ms <= change.at_ms <= change.to_ms
    assert change.ratio == pytest.approx(1.4, rel=0.12)
    assert change.p_value <= 0.001


def test_latency_that_falls_is_a_change_too() -> None:
    (change,) = found(hourly(3, jump=0.6))

    assert change.ratio == pytest.approx(0.6, rel=0.12)


def test_two_steps_are_two_changes() -> None:
    values = hourly(4, days=14, jump=1.5, jump_at=100)
    values[230:] *= 1.5

    assert len(found(values)) == 2


def test_a_job_with_day_and_night_seldom_gives_a_change() -> None:
    false = sum(bool(found(hourly(seed, days=7 + seed % 2 * 7))) for seed in range(200))

    # The level is 1 % for each job; a memory of hours costs a little more.
    assert false <= 6


def test_noise_that_remembers_for_hours_seldom_gives_a_change_once_many_jobs_are_asked() -> None:
    jobs = [found(hourly(seed, memory=0.8)) for seed in range(200)]

    assert sum(bool(each) for each in corrected(jobs)) <= 2


def test_hours_of_incident_are_no_change() -> None:
    values = hourly(5)
    values[60:72] *= 4

    assert found(values) == ()


def test_a_step_that_is_smaller_than_ten_per_cent_is_none() -> None:
    assert found(hourly(6, spread=0.005, jump=1.07)) == ()


def test_two_days_cannot_tell_a_change_from_a_rhythm() -> None:
    assert found(hourly(7, days=2, jump=3.0)) == ()


def test_missing_hours_neither_hide_nor_make_a_change() -> None:
    holes = np.random.default_rng(8).random(168) < 0.2
    with_step, without = hourly(8, jump=1.5), hourly(8)
    with_step[holes] = without[holes] = np.nan

    assert len(found(with_step)) == 1
    assert found(without) == ()


def test_many_jobs_need_a_lower_p_value() -> None:
    change = ChangePoint(0, 0, 0, 1.0, 2.0, p_value=0.004)

    assert corrected([(change,), ()]) == [(change,), ()]
    assert corrected([(change,)] + [()] * 19)[0] == ()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(0, 1e9) | st.just(float("nan")), max_size=300),
    st.sampled_from((HOUR_MS, HOUR_MS // 6)),
)
def test_any_values_give_changes_in_order_inside_the_range(
    values: list[float], step_ms: int
) -> None:
    changes = change_points(START_MS, step_ms, np.array(values, dtype=float))

    times = [each.at_ms for each in changes]
    assert times == sorted(set(times))
    assert all(START_MS <= at < START_MS + len(values) * step_ms for at in times)
    assert all(0 < each.p_value <= 0.01 for each in changes)

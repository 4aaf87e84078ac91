"""What changed with latency is named; what grows all along or has a rhythm is not."""

import numpy as np

from techniques.analysis.change_points import HOUR_MS, ChangePoint
from techniques.analysis.changed_with import Together, level, releases

AT = 84
CHANGE = ChangePoint(AT * HOUR_MS, (AT - 1) * HOUR_MS, (AT + 1) * HOUR_MS, 100.0, 140.0, 1e-4)
HOURS = np.arange(168)


def state(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Together | None:
    return level("state bytes", CHANGE, (), 0, values, HOUR_MS)


def test_a_release_that_began_near_the_change_is_named() -> None:
    names = ["one"] * (AT + 1) + ["two"] * (167 - AT)

    assert releases(CHANGE, 0, HOUR_MS, names) == Together("release", "one", "two")


def test_a_release_of_another_day_is_not() -> None:
    assert releases(CHANGE, 0, HOUR_MS, ["one"] * 40 + ["two"] * 128) is None


def test_hours_without_a_release_in_between_do_not_hide_it() -> None:
    names = ["one"] * (AT - 2) + [""] * 3 + ["two"] * (167 - AT)

    assert releases(CHANGE, 0, HOUR_MS, names) == Together("release", "one", "two")


def test_state_that_doubles_at_the_change_is_named_with_both_sizes() -> None:
    noise = np.exp(np.random.default_rng(1).normal(size=168) * 0.02)

    changed = state(np.where(HOURS < AT, 1e6, 2e6) * noise)

    assert changed is not None
    assert isinstance(changed.before, float)
    assert isinstance(changed.after, float)
    assert abs(changed.before / 1e6 - 1) < 0.05
    assert abs(changed.after / 2e6 - 1) < 0.05


def test_state_that_grows_all_week_is_not_named() -> None:
    assert state(1e6 * np.exp(HOURS * 0.08)) is None


def test_batches_that_are_larger_by_day_are_not_named() -> None:
    assert state(1e3 * np.exp(0.8 * np.sin(2 * np.pi * HOURS / 24))) is None


def test_a_step_of_another_day_is_not_named() -> None:
    assert state(np.where(HOURS < 40, 1e6, 2e6)) is None


def test_what_is_not_known_is_not_named() -> None:
    assert state(np.full(168, np.nan)) is None
    assert state(np.zeros(4)) is None

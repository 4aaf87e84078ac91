"""When an SLO is violated and when it is restored: the burn rates alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.pulse import BIN_MS
from dashboard.slo.burn import (
    FAST,
    MET,
    MISSED,
    MOST_OUTCOMES,
    PAIRS,
    QUIET_BINS,
    SLOW,
    State,
    burning,
    rate,
)

START_MS = 1_700_000_000_000
HOUR = SLOW.long_bins


def after(outcomes: str, state: State | None = None) -> State:
    """The state after bins that follow one another."""
    state = state or State()
    begin_ms = state.judged_ms or START_MS
    for at, outcome in enumerate(outcomes):
        start_ms = begin_ms + at * BIN_MS
        state = state.after(start_ms, start_ms + BIN_MS, outcome == MET)
    return state


def violated_after(outcomes: str) -> int | None:
    """With which of these bins, counted from 1, it becomes violated."""
    state = State()
    for at, outcome in enumerate(outcomes, 1):
        state = after(outcome, state)
        if state.violated_ms is not None:
            return at
    return None


def test_a_job_that_always_misses_it_is_told_of_after_50_s() -> None:
    assert violated_after(MET * HOUR + MISSED * 20) == HOUR + 5


def test_one_that_has_just_begun_after_30_s_and_never_with_one_bin_or_two() -> None:
    assert violated_after(MISSED * 20) == 3
    assert violated_after(MISSED * 2 + MET * HOUR) is None


def test_the_minute_after_a_violation_restores_it_and_its_onset_is_the_first_bin_missed() -> None:
    state = after(MET * HOUR + MISSED * 5)
    assert state.violated_ms == START_MS + HOUR * BIN_MS
    assert after(MET * (QUIET_BINS - 1), state).violated_ms is not None
    restored = after(MET * QUIET_BINS, state)
    assert (restored.violated_ms, restored.missing_ms) == (None, None)


def test_a_bin_missed_in_that_minute_begins_the_minute_anew() -> None:
    state = after(MET * HOUR + MISSED * 5 + MET * (QUIET_BINS - 1) + MISSED)
    assert after(MET * (QUIET_BINS - 1), state).violated_ms is not None
    assert after(MET * QUIET_BINS, state).violated_ms is None


def test_a_bin_in_fifty_calls_nobody_and_one_in_ten_does_within_the_hour() -> None:
    assert violated_after((MISSED + MET * 49) * 40) is None
    at = violated_after(MET * HOUR + (MISSED + MET * 9) * 40)
    # The 22nd that was missed in an hour; the fast pair never burns with so few.
    assert at == HOUR + 21 * 10 + 1


def test_what_burns_slowly_is_not_restored_between_two_of_its_bins() -> None:
    state = after(MET * HOUR + (MISSED + MET * 9) * 22)
    assert state.violated_ms is not None
    # The short window of the slow pair has two of these, and then one.
    assert after(MET * 9, state).violated_ms is not None
    assert after(MET * (SLOW.short_bins - 10), state).violated_ms is None


def test_bins_that_are_missed_now_and_then_have_one_onset_until_a_minute_is_quiet() -> None:
    state = after(MISSED + MET * 3 + MISSED)
    assert state.missing_ms == START_MS
    assert after(MET * QUIET_BINS, state).missing_ms is None


@pytest.mark.parametrize(
    ("outcomes", "least", "expected"),
    [("", 0, 0.0), (MISSED, 0, 100.0), (MISSED, 15, 6.666667), (MET * 99 + MISSED, 0, 1.0)],
)
def test_a_burn_rate_of_1_uses_up_exactly_what_is_allowed(
    outcomes: str, least: int, expected: float
) -> None:
    assert rate(outcomes, least) == expected


@given(st.text(alphabet=MET + MISSED, max_size=2 * HOUR))
def test_it_is_violated_only_by_a_miss_restored_only_by_a_quiet_minute_and_stays_small(
    outcomes: str,
) -> None:
    state = State()
    for outcome in outcomes:
        before, state = state, after(outcome, state)
        assert len(state.outcomes) <= MOST_OUTCOMES
        if before.violated_ms is None and state.violated_ms is not None:
            assert outcome == MISSED
            assert burning(state.outcomes) in PAIRS
        if before.violated_ms is not None and state.violated_ms is None:
            assert state.outcomes.endswith(MET * QUIET_BINS)
            assert burning(state.outcomes) is None


def test_the_quick_pair_is_named_first() -> None:
    assert burning(MISSED * HOUR) == FAST
    assert burning((MISSED + MET * 9) * 36 + MISSED) == SLOW
    assert burning(MET * HOUR) is None

"""When an SLO is violated and when it is restored: the rule alone."""

from collections.abc import Sequence

import pytest

from collectors.formats.pulse import BIN_MS, Recent
from dashboard.slo.evaluation import (
    BINS,
    Minute,
    Verdict,
    judged,
    last_minute,
    needs_frames,
)

PROMISED_MS = 500.0
START_MS = 1_700_000_000_000


def minute(p99_ms: Sequence[float | None], bins_later: int = 0) -> Minute:
    return Minute(START_MS + bins_later * BIN_MS, tuple(p99_ms))


def after(*minutes: tuple[Sequence[float | None], float | None]) -> Verdict:
    """The verdict after minutes that end ten seconds apart, each with the p99 of the whole."""
    verdict = Verdict()
    for later, (bins, whole_ms) in enumerate(minutes):
        verdict = judged(verdict, minute(bins, later), PROMISED_MS, whole_ms)
    return verdict


CALM = [100.0] * BINS
SLOW = [100.0] * (BINS - 1) + [900.0]


def test_a_job_below_its_promise_leaves_nothing_to_write_down() -> None:
    assert after((CALM, None), (CALM, None)) == Verdict()
    assert not needs_frames(Verdict(), minute(CALM), PROMISED_MS)


def test_one_slow_minute_is_not_yet_a_violation_and_two_in_a_row_are() -> None:
    once = after((SLOW, 700.0))
    assert (once.above, once.violated_ms) == (1, None)
    twice = after((SLOW, 700.0), ([*SLOW[1:], 100.0], 700.0))
    # It began with the bin that was above the promise first.
    assert twice.violated_ms == START_MS - BIN_MS


def test_a_minute_within_the_promise_in_between_starts_the_count_anew() -> None:
    found = after((SLOW, 700.0), (SLOW, 500.0), (SLOW, 700.0))
    assert (found.above, found.violated_ms) == (1, None)
    found = after((SLOW, 700.0), (CALM, None), (SLOW, 700.0))
    assert (found.above, found.violated_ms) == (1, None)


def test_the_same_bin_is_not_judged_twice() -> None:
    once = after((SLOW, 700.0))
    assert judged(once, minute(SLOW), PROMISED_MS, 700.0) == once


def test_it_is_restored_once_no_bin_of_a_whole_minute_was_above() -> None:
    violated = Verdict(START_MS - 100 * BIN_MS, 2, START_MS - 100 * BIN_MS)
    assert judged(violated, minute(SLOW), PROMISED_MS) == violated
    still = [900.0, *[100.0] * (BINS - 1)]
    assert judged(violated, minute(still), PROMISED_MS) == violated
    assert judged(violated, minute([*CALM[:-1], PROMISED_MS]), PROMISED_MS) == Verdict(START_MS)


@pytest.mark.parametrize("bins", [(), (None,), (900_000, 900_000, None)])
def test_a_bin_in_which_nothing_completed_is_no_judgement(bins: tuple[int | None, ...]) -> None:
    assert last_minute(Recent(START_MS, bins)) is None


def test_of_what_a_job_tells_the_last_six_bins_are_a_minute() -> None:
    found = last_minute(Recent(START_MS, (*range(20), None, 7_500)))
    assert found == Minute(START_MS + BIN_MS, (0.016, 0.017, 0.018, 0.019, None, 7.5))
    assert found.start_ms == START_MS + BIN_MS - 60_000

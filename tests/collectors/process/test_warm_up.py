import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.process.warm_up import MOST_MS, WarmUp

STARTED_MS = 1_700_000_000_000


def steady_after(*durations_ms: int) -> int | None:
    """How many of these batches, one after the other, show the run to be steady."""
    warm_up, now_ms = WarmUp(STARTED_MS), STARTED_MS
    for number, duration_ms in enumerate(durations_ms, 1):
        now_ms += duration_ms
        warm_up.add(duration_ms, now_ms)
        if warm_up.is_over(now_ms):
            return number
    return None


def test_a_run_warms_up_while_its_batches_get_shorter() -> None:
    assert steady_after(9_000, 4_000, 2_500, 1_500, 1_000, 700, 500) is None


def test_a_run_is_steady_once_three_batches_are_not_shorter_than_the_three_before() -> None:
    assert steady_after(9_000, 2_000, 900, 300, 310, 290, 300, 305, 295) == 8


def test_a_job_that_needs_no_warm_up_is_steady_with_its_sixth_batch() -> None:
    assert steady_after(*[300] * 9) == 6


def test_a_compaction_in_every_fourth_batch_is_not_taken_for_warm_up() -> None:
    assert steady_after(300, 310, 290, 1_400, 300, 290) == 6
    assert steady_after(300, 310, 1_400, 290, 300, 290) == 6


def test_a_run_whose_batches_get_longer_has_warmed_up() -> None:
    assert steady_after(100, 200, 300, 400, 500, 600) == 6


@pytest.mark.parametrize("batches", [[], [120_000], [9_000, 8_000]])
def test_a_minute_after_its_start_every_run_counts_as_steady(batches: list[int]) -> None:
    warm_up = WarmUp(STARTED_MS)
    for duration_ms in batches:
        warm_up.add(duration_ms, STARTED_MS + duration_ms)
    assert not warm_up.is_over(STARTED_MS + MOST_MS - 1)
    assert warm_up.is_over(STARTED_MS + MOST_MS)


def test_a_collector_that_is_started_again_in_the_midst_of_a_run_finds_it_steady() -> None:
    assert WarmUp(STARTED_MS).is_over(STARTED_MS + 3_600_000)


@given(st.lists(st.integers(1, 20_000), max_size=40))
def test_a_run_that_is_steady_stays_so(durations_ms: list[int]) -> None:
    warm_up, now_ms, was_over = WarmUp(STARTED_MS), STARTED_MS, False
    for duration_ms in durations_ms:
        now_ms += duration_ms
        warm_up.add(duration_ms, now_ms)
        assert warm_up.is_over(now_ms) >= was_over
        was_over = warm_up.is_over(now_ms)

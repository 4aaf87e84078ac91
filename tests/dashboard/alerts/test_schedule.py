from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.alerts.schedule import (
    FIRST_MS,
    KEEP_TRYING_MS,
    LONGEST_MS,
    next_due_ms,
    retry_after_ms,
)

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000
chances = st.floats(0, 1, exclude_max=True)
waits = st.none() | st.integers(0, KEEP_TRYING_MS)


@given(failed=st.integers(1, 10_000), age_ms=st.integers(0, DAY_MS - 1), wait=waits, chance=chances)
def test_the_next_attempt_comes_later_and_never_after_the_last(
    failed: int, age_ms: int, wait: int | None, chance: float
) -> None:
    first_ms = NOW_MS - age_ms
    due_ms = next_due_ms(failed, first_ms, NOW_MS, wait, lambda: chance)
    assert due_ms is not None
    assert NOW_MS < due_ms <= first_ms + DAY_MS
    # What the receiver asked for is kept, as long as there is a day left for it.
    assert due_ms >= min(NOW_MS + (wait or 0), first_ms + DAY_MS)


@given(failed=st.integers(1, 10_000), chance=chances)
def test_it_waits_twice_as_long_each_time_less_at_most_half(failed: int, chance: float) -> None:
    due_ms = next_due_ms(failed, NOW_MS, NOW_MS, None, lambda: chance)
    assert due_ms is not None
    whole_ms = min(FIRST_MS * 2 ** (failed - 1), LONGEST_MS)
    assert whole_ms / 2 <= due_ms - NOW_MS <= whole_ms


@given(chance=chances)
def test_a_message_is_tried_for_24_hours_and_then_given_up(chance: float) -> None:
    now_ms, attempts = NOW_MS, 0
    while (due_ms := next_due_ms(attempts + 1, NOW_MS, now_ms, None, lambda: chance)) is not None:
        now_ms, attempts = due_ms, attempts + 1
        assert attempts < 100
    assert now_ms == NOW_MS + DAY_MS
    assert attempts >= 30


@pytest.mark.parametrize(
    ("header", "expected_ms"),
    [
        ("120", 120_000),
        (" 5 ", 5_000),
        ("0", 0),
        ("999999", KEEP_TRYING_MS),
        ("9" * 5_000, KEEP_TRYING_MS),
        (formatdate(NOW_MS / 1000 + 90, usegmt=True), 90_000),
        (formatdate(NOW_MS / 1000 - 90, usegmt=True), 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", KEEP_TRYING_MS),
        ("-5", None),
        ("soon", None),
        ("١٢", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, expected_ms: int | None) -> None:
    assert retry_after_ms(header, NOW_MS) == expected_ms


@given(st.text())
def test_no_header_breaks_it(header: str) -> None:
    found = retry_after_ms(header, NOW_MS)
    assert found is None or 0 <= found <= KEEP_TRYING_MS

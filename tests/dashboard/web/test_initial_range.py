import pytest

from dashboard.web.initial_range import KEPT_MS, MORE_MS, SPANS_MS, initial_range

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize("span_ms", SPANS_MS[:2])
def test_a_page_opens_with_what_will_be_in_view(span_ms: int) -> None:
    at = initial_range({"span": str(span_ms)}, NOW_MS - 500, NOW_MS)
    assert (at.start_ms, at.end_ms, at.now_ms) == (NOW_MS - span_ms - MORE_MS, NOW_MS, NOW_MS)


def test_it_never_asks_for_more_than_the_api_gives_at_once() -> None:
    at = initial_range({"span": "900000"}, NOW_MS, NOW_MS)
    assert at.end_ms - at.start_ms == KEPT_MS


@pytest.mark.parametrize("span", ["", "7", "-60000", "sixty", "300000.5", "9" * 400])
def test_a_span_that_there_is_not_is_five_minutes(span: str) -> None:
    assert initial_range({"span": span}, NOW_MS, NOW_MS) == initial_range({}, NOW_MS, NOW_MS)


@pytest.mark.parametrize("ago_ms", [200_000, 600_000, 7_200_000])
def test_of_a_job_that_has_fallen_silent_it_opens_with_the_last(ago_ms: int) -> None:
    last_seen_ms = NOW_MS - ago_ms
    at = initial_range({}, last_seen_ms, NOW_MS)
    assert at.start_ms < last_seen_ms < at.end_ms == last_seen_ms + 1000
    assert at.now_ms == NOW_MS


def test_a_job_that_was_silent_for_a_while_is_still_shown_up_to_now() -> None:
    assert initial_range({}, NOW_MS - 60_000, NOW_MS).end_ms == NOW_MS

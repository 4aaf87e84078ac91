"""Hours that recur are found; bursts and even spreads give none more often than the level says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.analysis.recurrence import DAY_MS, HOUR_MS, recurrence, tail
from techniques.detection import chance

# A Monday.
START_MS = 1_700_438_400_000
WEEK_MS = 7 * DAY_MS


def test_an_hour_in_which_every_day_has_an_incident_is_found() -> None:
    onsets = [START_MS + day * DAY_MS + 3 * HOUR_MS + 600_000 for day in range(7)]

    found = recurrence(onsets, START_MS, START_MS + WEEK_MS)

    (hour,) = found.hours
    assert (hour.place, hour.hits, hour.tries) == (3, 7, 7)
    assert hour.p_value == pytest.approx(24 * (1 / 24) ** 7)
    assert [row[3] for row in found.table] == [1] * 7


def test_a_weekday_is_found_over_weeks() -> None:
    onsets = [START_MS + week * WEEK_MS + 2 * DAY_MS for week in range(6)]

    found = recurrence(onsets, START_MS, START_MS + 6 * WEEK_MS)

    assert [each.place for each in found.weekdays] == [2]


def test_thirty_incidents_of_one_bad_hour_say_nothing_about_that_hour() -> None:
    onsets = [START_MS + 5 * HOUR_MS + minute * 60_000 for minute in range(30)]

    assert recurrence(onsets, START_MS, START_MS + WEEK_MS).hours == ()


def test_the_hours_are_those_of_the_zone() -> None:
    onsets = [START_MS + day * DAY_MS + 23 * HOUR_MS for day in range(7)]

    found = recurrence(onsets, START_MS, START_MS + WEEK_MS, offset_ms=2 * HOUR_MS)

    assert [each.place for each in found.hours] == [1]


def test_incidents_in_bursts_without_a_rhythm_seldom_give_an_hour() -> None:
    false = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        bursts = random.integers(0, 2 * WEEK_MS, 20)
        onsets = [int(at + each) for at in bursts for each in random.integers(0, 2 * HOUR_MS, 10)]
        found = recurrence([START_MS + at for at in onsets], START_MS, START_MS + 2 * WEEK_MS)
        false += bool(found.hours)

    assert false <= 20  # 5 % of 200 are 10; twice that has a chance of 0.2 %


@given(st.integers(0, 20), st.integers(1, 20), st.floats(0, 1))
def test_equal_shares_are_a_binomial(hits: int, tries: int, share: float) -> None:
    assert tail(np.full(tries, share), hits) == pytest.approx(
        chance.at_least(hits, tries, share), abs=1e-9
    )


@given(st.lists(st.integers(START_MS - DAY_MS, START_MS + 3 * WEEK_MS)), st.integers(1, 500))
def test_every_incident_of_the_range_is_counted_once(onsets: list[int], hours: int) -> None:
    end_ms = START_MS + hours * HOUR_MS

    found = recurrence(onsets, START_MS, end_ms)

    inside = [at for at in onsets if START_MS <= at < end_ms]
    assert sum(map(sum, found.table)) == len(inside)

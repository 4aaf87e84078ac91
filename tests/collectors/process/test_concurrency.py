"""The most intervals at once, against counting microsecond by microsecond."""

from hypothesis import given
from hypothesis import strategies as st

from collectors.process.events.concurrency import Interval, most_at_once

TIMES = st.integers(0, 30)


@st.composite
def intervals(draw: st.DrawFn) -> Interval[str]:
    start_us = draw(TIMES)
    length_us = draw(st.none() | st.integers(0, 12))
    return Interval(
        key=draw(st.sampled_from("ab")),
        start_us=start_us,
        end_us=None if length_us is None else start_us + length_us,
    )


def runs_at(interval: Interval[str], time_us: int) -> bool:
    if interval.end_us is None:
        return interval.start_us <= time_us
    return interval.start_us <= time_us < max(interval.end_us, interval.start_us + 1)


def counted(found: list[Interval[str]], start_us: int, end_us: int) -> dict[str, int]:
    most = {
        key: max(
            (
                sum(each.key == key and runs_at(each, time_us) for each in found)
                for time_us in range(start_us, end_us)
            ),
            default=0,
        )
        for key in "ab"
    }
    return {key: count for key, count in most.items() if count}


@given(found=st.lists(intervals(), max_size=12), start_us=TIMES, length_us=st.integers(1, 15))
def test_it_agrees_with_counting_every_microsecond(
    found: list[Interval[str]], start_us: int, length_us: int
) -> None:
    end_us = start_us + length_us
    assert most_at_once(found, start_us, end_us) == counted(found, start_us, end_us)


@given(found=st.lists(intervals(), max_size=12), start_us=TIMES)
def test_the_order_of_the_intervals_does_not_matter(
    found: list[Interval[str]], start_us: int
) -> None:
    end_us = start_us + 10
    assert most_at_once(found[::-1], start_us, end_us) == most_at_once(found, start_us, end_us)


@given(found=st.lists(intervals(), max_size=12), start_us=TIMES, cut_us=st.integers(1, 9))
def test_a_window_has_as_many_as_the_busier_of_its_halves(
    found: list[Interval[str]], start_us: int, cut_us: int
) -> None:
    whole = most_at_once(found, start_us, start_us + 10)
    early = most_at_once(found, start_us, start_us + cut_us)
    late = most_at_once(found, start_us + cut_us, start_us + 10)
    assert whole == {
        key: max(early.get(key, 0), late.get(key, 0)) for key in early.keys() | late.keys()
    }


def test_one_after_the_other_is_one_at_a_time() -> None:
    found = [Interval("a", 0, 5), Interval("a", 5, 9)]
    assert most_at_once(found, 0, 10) == {"a": 1}


def test_what_still_runs_counts_in_every_later_window() -> None:
    found = [Interval("a", 0), Interval("a", 120, 130)]
    assert most_at_once(found, 50, 100) == {"a": 1}
    assert most_at_once(found, 100, 150) == {"a": 2}


def test_what_ended_as_the_window_began_is_not_in_it() -> None:
    assert most_at_once([Interval("a", 0, 50)], 50, 100) == {}


def test_what_took_no_time_ran_all_the_same() -> None:
    assert most_at_once([Interval("a", 60, 60), Interval("a", 55, 70)], 50, 100) == {"a": 2}

"""The timeout of tasks: copies that hide the tail, and its bounds. The paper's own examples are in
`tests/techniques/adaptive_timeout`."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from techniques.adaptive_timeout.algorithm import percentile, timeout
from techniques.task_copies.algorithm import (
    ABOVE_MEDIAN,
    FLOOR_MS,
    MOST_MS,
    STEADY,
    Durations,
    timeout_ms,
)

durations_ms = st.lists(st.floats(0, 1e7), min_size=1, max_size=300).map(tuple)
ages_ms = st.lists(st.floats(0, 1e7), max_size=100).map(tuple)
in_force_ms = st.none() | st.integers(FLOOR_MS, MOST_MS)


def ordinary(longest_ms: float = 130.0) -> tuple[float, ...]:
    """A hundred tasks from 70 ms up, p90 = 120 ms, of which two may be long."""
    return (*(70 + at * 50 / 89 for at in range(90)), *[125.0] * 8, *[longest_ms] * 2)


def test_without_copies_it_is_the_papers_timeout() -> None:
    assert timeout_ms(Durations(ordinary(1_000.0))) == 120 == timeout(ordinary(1_000.0))
    assert timeout_ms(Durations(ordinary())) == 130


def test_a_short_task_is_given_fifty_milliseconds() -> None:
    assert timeout_ms(Durations((1.0,) * 19 + (400.0,))) == FLOOR_MS


def test_a_copy_never_begins_before_the_original_should_be_done() -> None:
    # All alike: p90 is the median itself.
    assert timeout_ms(Durations((100.0,) * 19 + (900.0,))) == 120


def test_a_task_that_was_overtaken_is_still_a_long_one() -> None:
    """Killed at 205 ms, less than twice p90: by that age the tail would seem to be gone."""
    found = Durations(ordinary()[:-2], (205.0, 205.0))

    assert timeout_ms(found) == 120
    assert found.has_tail
    assert not Durations(ordinary(205.0)).has_tail


def test_where_copies_lose_the_tail_is_over() -> None:
    assert timeout_ms(Durations(ordinary(140.0))) == 140


def test_where_a_fifth_is_overtaken_their_ages_are_lower_bounds() -> None:
    found = Durations((100.0,) * 80, (220.0,) * 20)

    assert timeout_ms(found) == 220
    assert found.at(990) == float("inf")
    assert found.median_ms == 100


def test_tasks_of_more_than_an_hour_have_no_timeout() -> None:
    assert timeout_ms(Durations((MOST_MS + 1.0,) * 20)) is None


def test_a_timeout_that_hardly_differs_stays() -> None:
    found = Durations(ordinary(1_000.0))

    assert timeout_ms(found, before_ms=119) == 119
    assert timeout_ms(found, before_ms=130) == 130
    assert timeout_ms(found, before_ms=100) == 120
    assert timeout_ms(found, before_ms=140) == 120
    # The median is 97 ms by now, and 1.2 times that is more than what was in force.
    assert timeout_ms(Durations((97.0,) * 20), before_ms=116) == 117


@given(durations_ms, ages_ms, in_force_ms)
def test_the_timeout_is_within_its_bounds(
    ended: tuple[float, ...], overtaken: tuple[float, ...], before_ms: int | None
) -> None:
    durations = Durations(ended, overtaken)
    found = timeout_ms(durations, before_ms)
    if found is None:
        assert max(*ended, *overtaken, ABOVE_MEDIAN * durations.median_ms) > MOST_MS - 1
        return
    assert FLOOR_MS <= found <= MOST_MS
    assert found >= ABOVE_MEDIAN * durations.median_ms
    # Neither does it leave what was seen.
    longest_ms = max(*ended, *overtaken, ABOVE_MEDIAN * durations.median_ms, FLOOR_MS)
    assert found <= ceil(longest_ms) * (1 + STEADY) / (1 - STEADY) + 1


@given(
    st.lists(st.floats(1, 1e5), min_size=20, max_size=400),
    st.lists(st.floats(1, 1e4), min_size=1, max_size=20),
)
def test_a_steady_workload_with_copies_keeps_its_timeout(
    firsts_ms: list[float], copies_ms: list[float]
) -> None:
    """The same tasks every period, each copied when it is older than the timeout of the last."""
    timeouts: list[int] = []
    found = timeout_ms(Durations(tuple(firsts_ms)))
    for _ in range(5):
        assert found is not None
        timeouts.append(found)
        ends = [
            (first_ms, found + copies_ms[at % len(copies_ms)])
            for at, first_ms in enumerate(firsts_ms)
        ]
        ended = tuple(first for first, copied in ends if first <= max(found, copied))
        overtaken = tuple(copied for first, copied in ends if first > max(found, copied))
        found = timeout_ms(Durations(ended, overtaken))
    # Copies that win may show that the tail is longer than it was thought to be, once.
    assert len(set(timeouts[1:])) == 1
    assert timeouts[0] >= timeouts[1] >= percentile(sorted(firsts_ms), 900)

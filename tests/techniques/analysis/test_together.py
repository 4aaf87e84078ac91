"""Jobs that stall together are found; equal rhythms and chance are not taken for it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.analysis.together import DAY_S, Mask, meetings, onsets, together

START_MS = 1_700_438_400_000


def stalls(
    random: np.random.Generator, days: int = 7, per_day: float = 40, by_day: bool = False
) -> Mask:
    """Stalls of a few seconds at random; `by_day`: only from 8 to 18 o'clock."""
    raised = np.zeros(days * DAY_S, dtype=bool)
    share = np.full(len(raised), per_day / DAY_S)
    if by_day:
        hour = np.arange(len(raised)) % DAY_S // 3_600
        share = np.where((hour >= 8) & (hour < 18), share * 2.4, 0.0)
    for at in np.flatnonzero(random.random(len(raised)) < share):
        raised[at : at + int(random.integers(1, 4))] = True
    return raised


def joined(raised: Mask, times: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Mask:
    both = raised.copy()
    for at in times:
        both[at : at + 3] = True
    return both


def test_two_jobs_of_a_host_that_stall_together_are_found_with_their_times() -> None:
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, 7 * DAY_S - 10, 60))
    raised = {name: stalls(random) for name in "abcdef"}
    raised["a"] = joined(raised["a"], times)
    raised["b"] = joined(raised["b"], times + 1)

    (group,) = together({"node-1": "abc", "node-2": "def"}, raised, START_MS)

    assert (group.host, group.jobs, group.elsewhere) == ("node-1", ("a", "b"), ())
    (pair,) = group.pairs
    assert pair.meetings >= 55
    assert pair.expected < 5
    assert pair.p_value < 0.01
    planted = {START_MS + int(at) * 1_000 for at in times}
    assert sum(any(abs(at - each) <= 3_000 for each in planted) for at in pair.examples_ms) >= 4


def test_three_jobs_that_stall_together_are_one_group() -> None:
    random = np.random.default_rng(2)
    times = random.integers(0, 7 * DAY_S - 10, 80)
    raised = {name: joined(stalls(random), times) for name in "abc"}

    (group,) = together({"node-1": "abc"}, raised, START_MS)

    assert group.jobs == ("a", "b", "c")
    assert len(group.pairs) == 3


def test_jobs_on_different_hosts_are_not_a_pair() -> None:
    random = np.random.default_rng(3)
    times = random.integers(0, 7 * DAY_S - 10, 80)
    raised = {name: joined(stalls(random), times) for name in "ab"}

    assert together({"node-1": "a", "node-2": "b"}, raised, START_MS) == ()


def test_a_job_elsewhere_that_stalls_with_them_is_named() -> None:
    random = np.random.default_rng(4)
    times = random.integers(0, 7 * DAY_S - 10, 80)
    raised = {name: joined(stalls(random), times) for name in "abx"} | {"y": stalls(random)}

    (group,) = together({"node-1": "ab", "node-2": "xy"}, raised, START_MS)

    assert group.elsewhere == ("x",)


def test_jobs_that_are_busy_at_the_same_hours_are_seldom_taken_for_it() -> None:
    false = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        raised = {name: stalls(random, 3, 100, by_day=True) for name in "abc"}
        false += bool(together({"node-1": "abc"}, raised, START_MS))

    assert false <= 8


def test_two_jobs_that_stall_every_minute_are_not_called_more_than_chance() -> None:
    minutes = np.arange(0, 2 * DAY_S, 60)
    raised = {name: joined(np.zeros(2 * DAY_S, dtype=bool), minutes) for name in "ab"}

    assert together({"node-1": "ab"}, raised, START_MS) == ()


def test_hardly_any_data_says_nothing() -> None:
    raised = {name: np.ones(3, dtype=bool) for name in "ab"}

    assert together({"node-1": "ab"}, raised, START_MS) == ()
    assert together({"node-1": "ab"}, {}, START_MS) == ()


@settings(deadline=None)
@given(st.lists(st.integers(0, 299), max_size=12), st.lists(st.integers(0, 299), max_size=12))
def test_every_move_is_counted_as_if_it_were_made(ones: list[int], others: list[int]) -> None:
    one, other = np.zeros(300, dtype=bool), np.zeros(300, dtype=bool)
    one[ones], other[others] = True, True
    one, other = onsets(one), onsets(other)

    meets, moved = meetings(one, other)

    wide = other.copy()
    for by in (1, 2):
        wide[by:] |= other[:-by]
        wide[:-by] |= other[by:]
    assert meets.sum() == (one & wide).sum()
    by_hand = sorted(int((np.roll(one, by) & wide).sum()) for by in range(31, 150))
    assert len(moved) >= len(by_hand)
    assert set(by_hand) <= set(moved.astype(int).tolist())

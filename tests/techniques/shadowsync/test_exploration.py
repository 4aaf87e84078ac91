"""Looking for the knee from minute to minute, with time in the tests' hands."""

import json
from dataclasses import replace

import pytest

from techniques.shadowsync.exploration import (
    OTHERS_FIRST_MS,
    STEP_MS,
    Exploration,
    State,
    begun,
    ended,
    looked,
    refused,
    steps,
)
from techniques.view import View
from tests.techniques.shadowsync.curves import START_MS, lasting

STEPS = (1, 2, 4)
# p99 by compactions at once: 2 is the knee.
CURVE = {1: 200.0, 2: 205.0, 3: 400.0, 4: 600.0}


def view(threads: int, at_ms: int, length_ms: int = 120_000) -> View:
    """What is seen with so many threads: as many compactions at once, and fewer."""
    levels = {level: ms for level, ms in CURVE.items() if level <= threads}
    return lasting(length_ms, levels, START_MS + at_ms)


def explored(before: Exploration, seen: View, others: bool = False) -> Exploration:
    return looked(before, seen, STEPS, may_act=True, others=others)


def exploring() -> Exploration:
    return explored(begun("run", view(1, 0)), view(1, 0))


@pytest.mark.parametrize(
    ("fewest", "most", "tried"),
    [(1, 4, (1, 2, 4)), (1, 6, (1, 2, 4, 6)), (2, 16, (2, 4, 8, 16)), (3, 3, (3,))],
)
def test_each_step_has_twice_the_threads_within_the_bounds(
    fewest: int, most: int, tried: tuple[int, ...]
) -> None:
    assert steps(fewest, most) == tried


def test_levels_that_the_job_shows_by_itself_are_enough() -> None:
    seen = view(4, 0)
    found = looked(begun("run", seen), seen, STEPS, may_act=False, others=True)

    assert (found.state, found.knee, found.threads) == (State.OVER, 2, 2)


def test_with_too_few_levels_it_tries_each_thread_count_for_a_minute_and_takes_the_knee() -> None:
    at_ms, now, tried = 0, exploring(), []
    while now.state is State.EXPLORING:
        tried.append((at_ms // 1000, now.threads))
        for _ in range(STEP_MS // 5_000):
            assert now.state is State.EXPLORING
            at_ms += 5_000
            now = explored(now, view(now.threads, at_ms))

    assert tried == [(0, 1), (60, 2), (120, 4)]
    assert (now.state, now.knee, now.threads) == (State.OVER, 2, 2)
    assert sorted(now.seen) == [1, 2, 3, 4]


def test_what_was_seen_in_one_step_is_not_counted_again_in_the_next() -> None:
    first = exploring()
    second = explored(first, view(1, STEP_MS))

    # Two minutes before it began and the step's own one; the view reaches further back.
    assert len(second.seen[1]) == (120_000 + STEP_MS) // 50


def test_once_over_it_stays_over() -> None:
    found = ended(exploring(), view(4, 5_000), "gone")

    assert found.state is State.OVER
    for later_ms in (10_000, 600_000):
        assert explored(found, view(1, later_ms)) == found


def test_only_act_tries_anything() -> None:
    now = begun("run", view(1, 0))
    for at_ms in range(0, 600_000, 60_000):
        now = looked(now, view(1, at_ms), STEPS, may_act=False, others=False)

    assert now.state is State.WAITING
    assert now.threads == 0


def test_what_else_was_changed_has_two_minutes_to_work() -> None:
    now = begun("run", view(1, 0))

    assert explored(now, view(1, OTHERS_FIRST_MS - 50), others=True) == now
    assert explored(now, view(1, OTHERS_FIRST_MS), others=True).state is State.EXPLORING
    assert explored(now, view(1, 50), others=False).state is State.EXPLORING


def test_a_flat_curve_is_no_reason_to_try_anything() -> None:
    flat = lasting(120_000, dict.fromkeys(CURVE, 200.0), START_MS)
    now = looked(begun("run", flat), flat, STEPS, may_act=True, others=False)

    assert now.state is State.WAITING


def test_where_no_step_shows_a_knee_threads_are_left_as_they_are() -> None:
    now, at_ms = exploring(), 0
    while now.state is State.EXPLORING:
        at_ms += STEP_MS
        now = explored(now, view(1, at_ms))

    assert at_ms == len(STEPS) * STEP_MS
    assert (now.knee, now.threads) == (None, 0)
    assert "only 1 compaction at once" in now.why


def test_one_that_is_cut_short_takes_the_knee_if_it_has_been_seen_and_else_nothing() -> None:
    too_little = ended(exploring(), view(1, 5_000), "the ShadowSync was gone")
    enough = ended(exploring(), view(4, 5_000), "the ShadowSync was gone")

    assert (too_little.state, too_little.threads) == (State.OVER, 0)
    assert "the ShadowSync was gone in step 1 of 3" in too_little.why
    assert (enough.state, enough.threads) == (State.OVER, 2)


def test_one_that_the_job_refused_sets_nothing_any_more() -> None:
    now = refused(exploring(), "files at level 0")

    assert (now.state, now.why) == (State.WITHDRAWN, "files at level 0")
    assert explored(now, view(4, 600_000)) == now


def test_a_step_that_nobody_watched_is_taken_again() -> None:
    before = replace(exploring(), step=1)
    late_ms = 300_000
    again = explored(before, view(1, late_ms))

    assert (again.step, again.since_ms) == (1, START_MS + late_ms)
    assert explored(again, view(2, late_ms + STEP_MS)).step == 2


def test_a_restart_in_the_middle_of_a_step_changes_nothing() -> None:
    before = explored(exploring(), view(1, STEP_MS))
    read = Exploration.of(json.loads(json.dumps(before.as_memory())))

    assert read == before
    later = view(2, 2 * STEP_MS)
    assert explored(before, later) == explored(read, later)


def test_what_another_version_wrote_down_is_forgotten() -> None:
    (name, held), *_ = exploring().as_memory().items()

    assert Exploration.of({name: held})
    assert Exploration.of({}) is None
    for change in ({"colour": "red"}, {"state": "asleep"}, {"seen": [1, 2]}, {"steps": None}):
        assert Exploration.of({name: {**held, **change}}) is None
    assert Exploration.of({name: None}) is None


def test_a_knee_beyond_the_bounds_is_not_set() -> None:
    seen = view(4, 0)
    few = looked(begun("run", seen), seen, (1,), may_act=True, others=False)
    many = looked(begun("run", seen), seen, (3, 6), may_act=True, others=False)

    assert (few.knee, few.threads) == (2, 1)
    assert (many.knee, many.threads) == (2, 3)

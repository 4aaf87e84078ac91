"""What the attempts of tasks say, and what copies did."""

from dataclasses import replace

import pytest

from techniques.task_copies.attempts import Copies, Kind, copies, kinds, share_known, tasks_of
from tests.techniques.task_copies.views import START_MS, Row, batches, overtaken, tasks


def kind_of(rows: list[Row]) -> Kind:
    (found,) = kinds(tasks_of(tasks(rows), START_MS))
    return found


def copies_of(rows: list[Row]) -> Copies:
    return copies(tasks_of(tasks(rows), START_MS))


PLAIN = batches([100.0] * 20)


def test_tasks_are_told_apart_by_the_place_of_their_stage() -> None:
    rows = batches([100.0] * 20) + batches([200.0] * 25, kind=2, stateful=True)

    first, third = kinds(tasks_of(tasks(rows), START_MS))

    assert (first.number, first.title, len(first.durations)) == (0, "stage 1", 20)
    assert (third.number, third.title, len(third.durations)) == (2, "stage 3", 25)
    assert (first.stateful, third.stateful) == (False, True)
    assert set(third.durations.ended_ms) == {200.0}


def test_fewer_than_twenty_tasks_of_a_stage_say_nothing() -> None:
    assert kinds(tasks_of(tasks(PLAIN[:19]), START_MS)) == []


def test_tasks_that_ended_before_the_period_do_not_count() -> None:
    rows = batches([100.0] * 20) + batches([300.0] * 5, kind=1)

    assert len(tasks_of(tasks(rows), START_MS + 1_000)) == 10
    assert tasks_of(tasks(rows), START_MS + 9_000) == []


def test_stages_whose_place_is_not_known_are_left_alone() -> None:
    rows = [replace(row, kind=-1) for row in PLAIN]

    assert tasks_of(tasks(rows), START_MS) == []


def test_a_task_whose_copy_came_first_counts_by_its_age_and_its_copy_does_not() -> None:
    rows = [*PLAIN[1:], *overtaken(PLAIN[0], after_ms=150, copy_ms=90)]

    durations = kind_of(rows).durations

    assert durations.ended_ms == (100.0,) * 19
    assert durations.overtaken_ms == (241.0,)
    # The original ran for 241 ms in vain.
    assert copies_of(rows) == Copies(made=1, won=1, wasted_ms=241.0, task_ms=1_900 + 90 + 241)


def test_a_copy_that_came_second_is_wasted_and_the_task_ended() -> None:
    late = replace(PLAIN[0], start_ms=80, end_ms=105, attempt=1, speculative=True, successful=False)

    assert kind_of([*PLAIN, late]).durations.overtaken_ms == ()
    assert copies_of([*PLAIN, late]) == Copies(1, 0, wasted_ms=25.0, task_ms=2_025.0)
    assert str(copies_of([*PLAIN, late])) == (
        "1 made, 0 came first, 25 ms of task time wasted (1.2%)"
    )


def test_an_attempt_that_failed_and_was_tried_again_was_not_overtaken() -> None:
    failed = replace(PLAIN[0], end_ms=40, successful=False)
    retry = replace(PLAIN[0], start_ms=60, end_ms=170, attempt=1)

    durations = kind_of([failed, retry, *PLAIN[1:]]).durations

    assert sorted(durations.ended_ms) == [100.0] * 19 + [110.0]
    assert durations.overtaken_ms == ()
    assert copies_of([failed, retry, *PLAIN[1:]]).wasted_ms == 0


def test_tasks_of_a_stage_that_was_cancelled_say_nothing() -> None:
    cancelled = [replace(row, stage=999, successful=False) for row in PLAIN]

    assert len(kind_of([*PLAIN, *cancelled]).durations) == 20


def test_a_percentile_among_overtaken_tasks_is_a_lower_bound_in_words() -> None:
    rows = [*PLAIN[1:], *overtaken(PLAIN[0], after_ms=150, copy_ms=90)]

    assert kind_of(rows).percentiles == (
        "p50 100 ms, p90 100 ms, p95 100 ms, p99 more than 241 ms, p99.9 more than 241 ms"
    )


def test_how_many_tasks_are_known_shows_in_the_partitions() -> None:
    every, tenth = PLAIN, [row for row in batches([5.0] * 400, tasks=40) if row.partition % 10 == 9]

    assert share_known(tasks_of(tasks(every), START_MS)) == 1.0
    assert share_known(tasks_of(tasks(tenth), START_MS)) == pytest.approx(0.1)
    assert share_known([]) == 1.0

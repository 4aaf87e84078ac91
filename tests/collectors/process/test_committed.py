"""Committed latency, from what tasks counted and when Spark says their batch ended."""

import pytest

from collectors.formats.buckets import FINE, Histogram
from collectors.formats.parts import Losses, Part, TaskLatencies
from collectors.formats.wire import WINDOW_MS, Batch
from collectors.process import committed
from collectors.process.assembly import MOST_WINDOWS_AT_ONCE, Assembler, Running
from collectors.process.events.progress import Progress
from tests.collectors.process.test_assembly import (
    FIRST,
    JOB,
    QUERY,
    RUN,
    assembler,
    closed,
    just_closed,
)
from tests.factories import START_MS

NEXT_RUN = "11111111-2222-3333-4444-555555555555"
BEGAN_MS = START_MS + 10
END_MS = START_MS + 40
TO_COMMIT_US = (END_MS - BEGAN_MS) * 1000


def task(
    *ages_us: int,
    batch: int = 7,
    partition: int = 0,
    attempt: int = 0,
    began_ms: int = BEGAN_MS,
    query: str = QUERY,
) -> TaskLatencies:
    """Ages below 512 µs are exact, so that a test can say what becomes of them."""
    ages = {FINE.index_of(age_us): ages_us.count(age_us) for age_us in ages_us}
    return TaskLatencies(query, batch, 3, partition, attempt, began_ms * 1000, Histogram(ages))


def part(*tasks: TaskLatencies, executor: str = "1") -> Part:
    return Part(FIRST, executor, f"node-{executor}", Losses(), {}, (), tasks, ())


def progress(batch: int = 7, end_ms: int = END_MS, query: str = QUERY, run: str = RUN) -> Progress:
    return Progress(query, run, Batch(batch, end_ms - 100, 100, 1_000), None)


def took(*latencies_us: int) -> Histogram:
    return Histogram.of(latencies_us)


def test_the_time_to_the_commit_is_added_to_the_age_of_every_record_of_every_task() -> None:
    made = assembler()
    made.add_part(part(task(100, 100, 500)), START_MS + 30)
    other = task(300, partition=1, attempt=1, began_ms=BEGAN_MS + 5)
    made.add_part(part(other, executor="2"), START_MS + 30)
    made.add_progress(progress(), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(*(TO_COMMIT_US + us for us in (100, 100, 500, 300 - 5_000)))
    assert frame.latency.count == 0


def test_tasks_that_are_heard_of_after_the_progress_count_as_long_as_the_window_is_open() -> None:
    made = assembler()
    made.add_progress(progress(), START_MS + 45)
    assert closed(made, just_closed(1) - 1) == []
    made.add_part(part(task(100)), just_closed(1) - 1)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(TO_COMMIT_US + 100)
    assert frame.health.late_parts == 0


def test_records_are_committed_in_the_window_in_which_their_batch_ended() -> None:
    made = assembler()
    made.add_part(part(task(100)), START_MS + 30)
    assert [frame.committed.count for frame in closed(made, just_closed(2))] == [0, 0]
    made.add_progress(progress(end_ms=START_MS + 170), START_MS + 180)
    frames = closed(made, just_closed(5))
    assert [frame.committed.count for frame in frames] == [0, 1, 0]


def test_a_progress_that_comes_late_is_told_in_the_next_window_with_the_true_commit() -> None:
    made = assembler()
    made.add_part(part(task(100)), START_MS + 30)
    closed(made, just_closed(4))
    made.add_progress(progress(), just_closed(4))
    [frame] = closed(made, just_closed(5))
    assert frame.committed == took(TO_COMMIT_US + 100)


def test_what_comes_after_its_batch_was_told_is_late() -> None:
    made = assembler()
    made.add_progress(progress(), START_MS + 45)
    closed(made, just_closed(1))
    made.add_part(part(task(100, batch=6), task(100), task(100, batch=8)), just_closed(1))
    [frame] = closed(made, just_closed(2))
    assert frame.committed.count == 0
    assert frame.health.late_parts == 2 + 1  # the part's own window is closed as well
    made.add_progress(progress(8, end_ms=START_MS + 110), START_MS + 120)
    assert closed(made, just_closed(3))[0].committed.count == 1


def test_a_batch_that_spark_never_speaks_of_is_lost_when_it_speaks_of_a_later_one() -> None:
    made = assembler()
    made.add_part(part(task(100, 200, batch=7), task(300, batch=8)), START_MS + 30)
    made.add_progress(progress(8), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(TO_COMMIT_US + 300)
    assert frame.health.lost_records == 2


def test_batches_that_end_in_one_window_each_have_their_own_commit() -> None:
    made = assembler()
    made.add_part(part(task(100, batch=7), task(100, batch=8)), START_MS + 30)
    made.add_progress(progress(7, END_MS - 20), START_MS + 45)
    made.add_progress(progress(8, END_MS), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(TO_COMMIT_US + 100 - 20_000, TO_COMMIT_US + 100)


def test_two_queries_with_batches_of_the_same_number_are_kept_apart() -> None:
    made = assembler(QUERY, "query-2")
    made.add_part(part(task(100), task(200, 200, query="query-2")), START_MS + 30)
    made.add_progress(progress(), START_MS + 45)
    made.add_progress(progress(query="query-2"), START_MS + 45)
    frames = {each.job_id: each.frame for each in made.close(just_closed(1), 0)}
    assert frames[f"{JOB}-{QUERY}"].committed == took(TO_COMMIT_US + 100)
    assert frames[f"{JOB}-query-2"].committed == took(TO_COMMIT_US + 200, TO_COMMIT_US + 200)


def test_a_copy_of_a_task_counts_once_and_a_task_stamped_twice_counts_twice() -> None:
    made = assembler()
    made.add_part(part(task(100, attempt=1), task(200, attempt=1)), START_MS + 30)
    copy = task(100, attempt=2, began_ms=BEGAN_MS + 3)
    made.add_part(part(copy, executor="2"), START_MS + 35)
    made.add_progress(progress(), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(TO_COMMIT_US + 100, TO_COMMIT_US + 200)
    assert (frame.health.late_parts, frame.health.lost_records) == (0, 0)


def test_a_batch_that_failed_and_runs_again_counts_the_second_time_only() -> None:
    made = assembler()
    made.add_part(part(task(100)), START_MS + 20)
    made.start(Running(QUERY, NEXT_RUN, JOB, started_ms=START_MS + 15))
    made.add_part(part(task(100, partition=1)), START_MS + 25)  # the first run's last words
    again = task(200, partition=2, began_ms=BEGAN_MS + 20)
    made.add_part(part(again), START_MS + 35)
    made.add_progress(progress(run=NEXT_RUN), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert frame.committed == took(TO_COMMIT_US + 200 - 20_000)
    assert frame.health.late_parts == 1


def test_what_never_gets_a_progress_is_forgotten_oldest_first_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(committed, "MOST_WEIGHT", 3 * (committed.WEIGHT_OF_A_TASK + 1))
    made = assembler()
    made.add_part(part(*(task(100, 100, batch=n) for n in range(10))), START_MS + 30)
    assert closed(made, just_closed(1))[0].health.lost_records == 14
    made.add_progress(progress(8), START_MS + 60)
    [frame] = closed(made, just_closed(2))
    assert (frame.committed.count, frame.health.lost_records) == (2, 16)


def test_a_batch_too_large_to_hold_loses_its_last_tasks_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(committed, "MOST_WEIGHT", 3 * (committed.WEIGHT_OF_A_TASK + 1))
    made = assembler()
    tasks = (task(100, partition=n, attempt=n) for n in range(5))
    made.add_part(part(*tasks), START_MS + 30)
    made.add_progress(progress(), START_MS + 45)
    [frame] = closed(made, just_closed(1))
    assert (frame.committed.count, frame.health.lost_records) == (3, 2)
    made.add_part(part(task(100, batch=8)), START_MS + 60)
    made.add_progress(progress(8, START_MS + 90), START_MS + 95)
    assert closed(made, just_closed(2))[0].committed.count == 1


def test_after_a_long_stall_the_batches_of_skipped_windows_are_told_in_the_next() -> None:
    made = assembler()
    made.add_part(part(task(100, 200)), START_MS + 30)
    made.add_progress(progress(), START_MS + 45)
    frames = closed(made, just_closed(MOST_WINDOWS_AT_ONCE + 10))
    assert [frame.committed.count for frame in frames[:2]] == [2, 0]
    assert frames[0].health.lost_records == 0


def test_a_query_that_nobody_knows_is_passed_over() -> None:
    made = Assembler(START_MS)
    made.add_part(part(task(100)), START_MS + 30)
    assert closed(made, just_closed(1)) == []


def test_a_commit_before_its_tasks_began_counts_as_no_time_at_all() -> None:
    made = assembler()
    made.add_part(part(task(100, began_ms=END_MS + WINDOW_MS)), START_MS + 30)
    made.add_progress(progress(), START_MS + 45)
    assert closed(made, just_closed(1))[0].committed == took(0)

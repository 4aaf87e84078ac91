"""Percentiles as a page shows them, against those of the raw values: the promise of 1 %.

All the way but Spark and Redis: several executors and tasks, several windows, merged.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import wire
from collectors.formats.buckets import FINE, MAX_US, Histogram, merged, middle_us
from collectors.formats.parts import Latencies, Losses, Part, TaskLatencies
from collectors.formats.wire import WINDOW_MS, Batch
from collectors.process.assembly import Assembler
from collectors.process.committed import Uncommitted
from collectors.process.events.progress import Progress
from dashboard.series.windows import QUANTILES
from tests.collectors.process.test_assembly import FIRST, QUERY, RUN, assembler, closed, just_closed
from tests.factories import START_MS

WINDOWS = 4
RELATIVE_ERROR = 0.01

# Even over the orders of magnitude, 1 µs to 1 h: evenly drawn, nearly all would be of an hour.
times_us = st.floats(0, np.log10(MAX_US)).map(lambda power: min(MAX_US, round(10**power)))


@dataclass(frozen=True)
class Task:
    executor: int
    window: int
    times_us: list[int]


tasks = st.lists(
    st.builds(
        Task,
        executor=st.integers(1, 4),
        window=st.integers(0, WINDOWS - 1),
        times_us=st.lists(times_us, min_size=1, max_size=60),
    ),
    min_size=1,
    max_size=12,
)


def part(
    task: Task, latencies: Iterable[Latencies] = (), counted: Iterable[TaskLatencies] = ()
) -> Part:
    window, executor = FIRST + task.window, str(task.executor)
    return Part(window, executor, "host", Losses(), {}, tuple(latencies), tuple(counted), ())


def frames(made: Assembler) -> list[wire.Frame]:
    """Through the bytes that are in Redis."""
    return [wire.decode(wire.encode(frame)) for frame in closed(made, just_closed(WINDOWS))]


def assert_percentiles(histogram: Histogram, raw_us: list[int]) -> None:
    assert histogram.count == len(raw_us)
    ours = histogram.quantiles_us(QUANTILES.values())
    theirs = np.quantile(raw_us, list(QUANTILES.values()), method="inverted_cdf")
    np.testing.assert_allclose(np.array(ours, dtype=float), theirs, rtol=RELATIVE_ERROR)


def test_the_percentiles_shown_are_those_that_are_promised() -> None:
    assert list(QUANTILES) == ["p50", "p90", "p95", "p99", "p999", "max"]


@given(tasks)
def test_processed_percentiles_are_within_one_percent_of_the_raw_values(drawn: list[Task]) -> None:
    made = assembler()
    for task in drawn:
        seen = Latencies(QUERY, FIRST + task.window, Histogram.of(task.times_us))
        made.add_part(part(task, latencies=[seen]), START_MS)
    raw_us = [us for task in drawn for us in task.times_us]
    assert_percentiles(merged(frame.latency for frame in frames(made)), raw_us)


@given(tasks, st.lists(times_us, min_size=12, max_size=12))
def test_committed_percentiles_are_within_one_percent_of_the_raw_values(
    drawn: list[Task], to_commit_us: list[int]
) -> None:
    """The task's times are its records' ages; a batch ends in each window."""
    made = assembler()
    raw_us = []
    for number, (task, until_us) in enumerate(zip(drawn, to_commit_us, strict=False)):
        commit_us = end_ms(task.window) * 1000
        ages = (FINE.index_of(us) for us in task.times_us)
        counted = TaskLatencies(
            QUERY, task.window, 0, number, number, commit_us - until_us, counts(ages)
        )
        made.add_part(part(task, counted=[counted]), START_MS)
        raw_us += [min(MAX_US, age_us + until_us) for age_us in task.times_us]
    for window in range(WINDOWS):
        batch = Batch(window, end_ms(window) - 30, 30, 1_000)
        made.add_progress(Progress(QUERY, RUN, batch, None), end_ms(window))
    assert_percentiles(merged(frame.committed for frame in frames(made)), raw_us)


def test_no_committed_latency_is_off_by_one_percent_however_its_two_roundings_meet() -> None:
    """Random values seldom meet the worst case; the edges of fine buckets, moved on, do."""
    first = FINE.index_of(1_000_000)
    edges_us = [us for index in range(first, first + 64) for us in FINE.bounds_us(index)]
    worst = 0.0
    for age_us in edges_us:
        for to_commit_us in range(0, 200_000, 2_000):
            uncommitted = Uncommitted()
            reference_us = START_MS * 1000 - to_commit_us
            ages = Histogram({FINE.index_of(age_us): 1})
            uncommitted.add(TaskLatencies(QUERY, 0, 0, 0, 0, reference_us, ages))
            [found] = uncommitted.commit([Batch(0, START_MS - 30, 30, 1)]).counts
            true_us = age_us + to_commit_us
            worst = max(worst, abs(middle_us(found) - true_us) / true_us)
    assert 0.0085 < worst < RELATIVE_ERROR


def end_ms(window: int) -> int:
    return START_MS + window * WINDOW_MS + 45


def counts(indexes: Iterable[int]) -> Histogram:
    found = list(indexes)
    return Histogram({index: found.count(index) for index in found})

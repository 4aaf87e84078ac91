from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Activity, Kind
from collectors.formats.wire import (
    WINDOW_MS,
    Batch,
    ExecutorSample,
    TaskCounts,
    decode,
    encode,
)
from dashboard.series.history import CORES, RUNNABLE, History, only
from techniques.view import EVERYTHING, Reads, Resource, ResourceKind, View
from tests.factories import FULL_FRAME, START_MS, frame, p99_objective


def pause(start_ms: int, end_ms: int) -> Activity:
    start_us, end_us = (START_MS + start_ms) * 1000, (START_MS + end_ms) * 1000
    return Activity(Kind.GC, start_us, end_us, executor_id="1", name="G1")


def same(one: View, other: View) -> bool:
    arrays = ("records", "p50_ms", "p99_ms", "p999_ms", "backlog_rows", "waiting_tasks")
    return (
        one.start_ms == other.start_ms
        and one.intervals == other.intervals
        and all(
            np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
            for name in arrays
        )
    )


def test_nothing_is_a_view_of_no_windows() -> None:
    assert len(History(100).view()) == 0


def test_windows_that_were_lost_are_not_known() -> None:
    history = History(100)
    history.add([frame(0, (10,)), frame(3, (40,), backlog_rows=7)])
    view = history.view()

    assert len(view) == 4
    assert view.start_ms == START_MS
    assert view.p99_ms[[0, 3]] == pytest.approx([10, 40], rel=0.01)
    assert np.isnan(view.p99_ms[1:3]).all()
    assert np.isnan(view.backlog_rows[:3]).all()


def test_the_oldest_windows_and_intervals_go() -> None:
    history = History(10)
    history.add([frame(at, (at + 1,)) for at in range(10)], [pause(0, 30), pause(300, 400)])
    history.add([frame(at, (at + 1,)) for at in range(10, 15)])
    view = history.view()

    assert view.start_ms == START_MS + 5 * WINDOW_MS
    assert view.p99_ms == pytest.approx(np.arange(6, 16), rel=0.01)
    assert [each.duration_ms for each in view.of("gc")] == [100]


def test_a_run_is_seen_from_when_it_has_warmed_up() -> None:
    history = History(100)
    warm_up = [frame(at, (9_000,), warming_up=True) for at in range(4)]
    history.add(warm_up[:2], [pause(0, 30)])
    assert len(history.view()) == 0
    history.add(
        [*warm_up[2:], frame(4, (40,)), frame(5, (50,))], [pause(100, 120), pause(240, 250)]
    )
    view = history.view()

    assert view.start_ms == START_MS + 4 * WINDOW_MS
    assert view.p99_ms == pytest.approx([40, 50], rel=0.01)
    assert [each.duration_ms for each in view.of("gc")] == [10]


def test_a_run_that_warms_up_makes_the_run_before_it_forgotten() -> None:
    history = History(100)
    history.add([frame(at, (40,)) for at in range(5)], [pause(0, 30)])
    history.add([frame(at, (9_000,), warming_up=True) for at in range(5, 8)])
    assert len(history.view()) == 0
    history.add([frame(8, (50,))])
    view = history.view()

    assert view.start_ms == START_MS + 8 * WINDOW_MS
    assert view.p99_ms == pytest.approx([50], rel=0.01)
    assert not len(view.of("gc"))


def test_cores_are_those_of_the_largest_executor_and_not_the_drivers() -> None:
    def running(**cores: int) -> View:
        samples = tuple(ExecutorSample(who, "host", {CORES: each}) for who, each in cores.items())
        history = History(10)
        history.add([frame(0, executors=samples), frame(1)])
        return history.view()

    assert running(driver=16, first=2, second=4).cores == 4
    assert running(driver=2).cores == 2
    assert running().cores is None


def test_a_long_silence_leaves_nothing_known() -> None:
    history = History(10)
    history.add([frame(at, (5,)) for at in range(10)])
    history.add([frame(1_000, (7,))])

    assert np.isnan(history.view().p99_ms[:-1]).all()
    assert history.after_ms == START_MS + 1_001 * WINDOW_MS


def test_use_of_a_host_is_the_highest_that_its_executors_saw() -> None:
    samples = (ExecutorSample("1", "node-a", {1: 400}), ExecutorSample("2", "node-a", {1: 990}))
    history = History(10)
    history.add([frame(0, executors=samples, tasks=TaskCounts(waiting=3))])
    view = history.view()

    assert view.use[Resource(ResourceKind.CPU, "node-a")].tolist() == [0.99]
    assert view.waiting_tasks.tolist() == [3]


def test_a_pause_takes_its_share_of_each_window_that_it_touches() -> None:
    history = History(10)
    history.add([frame(at, (10,)) for at in range(4)], [pause(25, 110)])

    stopped = history.view().use[Resource(ResourceKind.GC, "1")]
    assert stopped == pytest.approx([0.5, 1.0, 0.2, 0.0])


def test_batches_stand_in_until_the_first_record_is_stamped() -> None:
    history = History(10)
    history.add([frame(0, batches=(Batch(1, START_MS, 800, 5),))])
    assert history.view().p99_ms == pytest.approx([800], rel=0.01)

    history.add([frame(1, (20,))])
    assert history.view().p99_ms == pytest.approx([np.nan, 20], rel=0.01, nan_ok=True)


def test_a_run_queue_is_full_when_as_many_threads_wait_as_run() -> None:
    samples = [
        (ExecutorSample("1", "node-a", {RUNNABLE: runnable, CORES: 4}),) for runnable in (0, 4, 8)
    ]
    # One in a container of a single core is on the same host.
    small = ExecutorSample("2", "node-a", {RUNNABLE: 8, CORES: 1})
    history = History(10)
    history.add([frame(at, executors=each) for at, each in enumerate(samples)])
    history.add([frame(3, executors=(*samples[2], small))])

    queue = history.view().use[Resource(ResourceKind.RUN_QUEUE, "node-a")]
    assert queue.tolist() == [0, 0.5, 1, 1]


def test_what_nobody_reads_is_not_kept() -> None:
    history = History(10, frozenset((Reads.SERIES,)))
    history.add([replace(FULL_FRAME, window=frame(0).window, warming_up=False)], [pause(0, 30)])
    view = history.view()

    assert len(view) == 1
    assert view.records.tolist() == [4]
    assert not view.use
    assert not view.intervals
    assert not view.pools
    assert not view.queues
    assert not view.executors
    assert len(view.traffic) == len(view.tasks) == 0


def test_only_what_is_read_is_decoded() -> None:
    series = decode(encode(FULL_FRAME), only(frozenset((Reads.SERIES,))))
    pools = decode(encode(FULL_FRAME), only(frozenset((Reads.POOLS,))))
    everything = decode(encode(FULL_FRAME), only(EVERYTHING))

    assert (series.latency, series.pools, series.executors) == (FULL_FRAME.latency, (), ())
    assert (pools.pools, pools.latency.count) == (FULL_FRAME.pools, 0)
    assert (everything.traffic, everything.pools) == (FULL_FRAME.traffic, FULL_FRAME.pools)


def test_a_view_has_the_promise_that_it_is_given() -> None:
    assert History(10).view(p99_objective(250.0)).objective == p99_objective(250.0)
    assert History(10).view().objective is None


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 900)), min_size=1, max_size=40))
def test_it_does_not_matter_in_how_many_steps_frames_come(steps: list[tuple[int, int]]) -> None:
    at, frames = 0, []
    for gap, latency_ms in steps:
        at += gap
        frames.append(frame(at, (latency_ms,), backlog_rows=latency_ms))
    whole, bit_by_bit = History(30), History(30)
    whole.add(frames)
    for each in frames:
        bit_by_bit.add([each])

    assert same(whole.view(), bit_by_bit.view())

import numpy as np
import pytest

from collectors.activity import Activity, Kind
from collectors.wire import ExecutorSample, TaskCounts
from dashboard import views
from techniques.view import Resource, ResourceKind
from tests.made import START_MS, frame


def test_nothing_is_a_view_of_no_windows() -> None:
    assert len(views.of([], [])) == 0


def test_windows_that_were_lost_are_not_known() -> None:
    view = views.of([frame(0, (10,)), frame(3, (40,), backlog_rows=7)], [])

    assert len(view) == 4
    assert view.start_ms == START_MS
    assert view.p99_ms[[0, 3]] == pytest.approx([10, 40], rel=0.01)
    assert np.isnan(view.p99_ms[1:3]).all()
    assert np.isnan(view.backlog_rows[:3]).all()
    assert view.records.tolist() == [1, 0, 0, 1]


def test_use_of_a_host_is_the_highest_that_its_executors_saw() -> None:
    samples = (ExecutorSample("1", "node-a", {1: 400}), ExecutorSample("2", "node-a", {1: 990}))
    view = views.of([frame(0, executors=samples, tasks=TaskCounts(waiting=3))], [])

    assert view.use[Resource(ResourceKind.CPU, "node-a")].tolist() == [0.99]
    assert view.waiting_tasks.tolist() == [3]


def test_a_pause_takes_its_share_of_each_window_that_it_touches() -> None:
    pause = Activity(
        Kind.GC, (START_MS + 25) * 1000, (START_MS + 110) * 1000, executor_id="1", name="G1"
    )
    view = views.of([frame(at, (10,)) for at in range(4)], [pause])

    assert view.use[Resource(ResourceKind.GC, "1")] == pytest.approx([0.5, 1.0, 0.2, 0.0])
    assert view.intervals[0].duration_ms == 85

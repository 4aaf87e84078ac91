import pytest

from techniques.intervals import Interval
from techniques.model import FigureKind
from techniques.state_balancing.picture import figure
from tests.techniques.state_balancing.views import START_MS, Task, executors, view


def stages(*places: str, duration_ms: float = 100) -> list[Task]:
    """A stage a second; each word has the executors of the partitions in one stage."""
    return [
        Task(stage, partition, executor, stage * 1_000, duration_ms * (1 + partition), waited_ms=50)
        for stage, each in enumerate(places)
        for partition, executor in enumerate(each)
    ]


def state(at_s: float, partition: int, size: int, name: str = "default") -> Interval:
    at_ms = START_MS + at_s * 1000
    return Interval("state", at_ms, at_ms, "1", 0, partition, name, size)


def test_each_partition_is_in_the_row_of_its_executor() -> None:
    drawn = figure(view(stages("121", "121"), executors("1", "2", "3")), None)

    assert drawn.kind == FigureKind.GRID
    grid = drawn.grid
    assert grid is not None
    # An executor without state has a row as well.
    assert grid.rows == ("1 @ host-1", "2 @ host-2", "3 @ host-3")
    assert grid.columns == ("0", "1", "2")
    assert [(each.row, each.column) for each in grid.cells] == [(0, 0), (1, 1), (0, 2)]
    assert [each.value for each in grid.cells] == [100, 200, 300]
    assert {each.size for each in grid.cells} == {1.0}
    assert grid.sizes == ""
    assert "100 ms in a batch, 150 ms with the wait" in grid.cells[0].says
    assert grid.shifts == ()
    assert "none moved lately" in drawn.note


def test_what_changed_its_executor_is_drawn_as_a_move() -> None:
    drawn = figure(view(stages("12", "12", "22", "22"), executors("1", "2"), seconds=10), None)

    assert drawn.grid is not None
    (shift,) = drawn.grid.shifts
    assert (shift.column, shift.from_row, shift.to_row) == (0, 0, 1)
    assert shift.says == "partition 0 went from executor 1 to 2, 8 s ago"
    assert "1 moved" in drawn.note


def test_areas_are_the_latest_bytes_of_all_stores_of_a_partition() -> None:
    told = [
        state(1, 0, 9_000_000),
        state(6, 0, 1_000_000),
        state(6, 1, 1_000_000),
        state(6, 1, 3_000_000, "right"),
    ]
    drawn = figure(view(stages("12"), executors("1", "2"), states=told), None)

    assert drawn.grid is not None
    assert [each.size for each in drawn.grid.cells] == pytest.approx([0.25, 1.0])
    assert drawn.grid.sizes == "bytes of state"
    assert "4 MB of state" in drawn.grid.cells[1].says


def test_of_many_partitions_those_with_the_longest_tasks_are_shown() -> None:
    drawn = figure(view(stages("1" * 40 + "2" * 40), executors("1", "2")), None)

    assert drawn.grid is not None
    assert drawn.grid.columns == tuple(str(each) for each in range(20, 80))
    assert "60 of 80 partitions" in drawn.note


def test_without_state_there_is_only_the_note() -> None:
    drawn = figure(view([]), None)

    assert drawn.grid is None
    assert "No task with state" in drawn.note

import pytest

from collectors.formats import metrics
from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import ExecutorSample
from dashboard.api.schemas import SecondsOut, WindowsOut
from dashboard.series import windows
from dashboard.series.executor_columns import (
    COLUMNS,
    SELDOM,
    SELDOM_IDS,
    By,
    ExecutorColumn,
)
from dashboard.series.export import Shape
from tests.factories import frame


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_a_row_of_the_table_is_in_the_json_the_schema_and_the_csv(column: ExecutorColumn) -> None:
    sample = ExecutorSample("7", "node-a", {BY_NAME[column.metric].id: 1_000})
    frames = [frame(0, executors=(sample,))]
    name = column.by.named(sample)
    told = windows.columns("job", frames, 0)[column.name]

    assert told == {name: [1_000 / column.divisor]}
    assert column.name in WindowsOut.model_fields
    shape = Shape().widened(frames)
    [row] = shape.rows(frames)
    assert row[shape.names().index(f"{column.csv_name}/{name}")] == told[name][0]


@pytest.mark.parametrize("column", SELDOM, ids=lambda column: column.name)
def test_a_row_of_memory_is_among_the_seconds_and_in_the_csv(column: ExecutorColumn) -> None:
    sample = ExecutorSample("7", "node-a", {BY_NAME[column.metric].id: 1_000})
    frames = [frame(0), frame(1, executors=(sample,))]
    told = windows.columns("job", frames, 0)["seconds"]

    assert told["t"] == [frames[1].start_ms]
    assert told[column.name] == {"7": [1_000]}
    assert column.name in SecondsOut.model_fields
    shape = Shape().widened(frames)
    place = shape.names().index(f"{column.csv_name}/7")
    assert [row[place] for row in shape.rows(frames)] == [None, 1_000]


def test_every_metric_that_is_seldom_has_a_column() -> None:
    assert SELDOM_IDS == metrics.SELDOM


def test_of_executors_on_one_host_the_largest_value_is_the_hosts() -> None:
    column = ExecutorColumn("some", "some", "host_cpu", By.HOST)
    metric = BY_NAME["host_cpu"].id
    samples = (
        ExecutorSample("1", "node-a", {metric: 5}),
        ExecutorSample("2", "node-a", {metric: 3}),
        ExecutorSample("3", "node-b", {}),
    )
    found = column.values([frame(0, executors=samples), frame(1)])
    assert found == {"node-a": [5, None]}

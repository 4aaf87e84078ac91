import pytest

from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import ExecutorSample
from dashboard.api.schemas import WindowsOut
from dashboard.series import windows
from dashboard.series.executor_columns import COLUMNS, By, ExecutorColumn
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

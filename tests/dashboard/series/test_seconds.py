import csv
import io

from collectors.formats.lag import Basis, Lag, PartitionLag
from collectors.formats.state_sizes import StateSize
from dashboard.api.schemas import SecondsOut
from dashboard.series import seconds, windows
from dashboard.series.export import Shape, lines
from tests.factories import START_MS, frame

FIRST = Lag(2_500, Basis.OFFSETS, 12, (PartitionLag("orders-3", 900), PartitionLag("orders-1", 7)))
SECOND = Lag(None, Basis.NONE, 12, (PartitionLag("orders-3", 950), PartitionLag("orders-3", 8)))
SIZES = (StateSize(0, "dedupe", 40, 4_096, 70_000), StateSize(1, "join", None, 5))
FRAMES = [
    frame(0, (10,), lag=FIRST, state_sizes=SIZES),
    *(frame(at, (10,)) for at in range(1, 20)),
    frame(20, (10,), lag=SECOND),
]


def test_only_frames_that_have_something_slow_have_a_row() -> None:
    told = seconds.columns(FRAMES)
    assert told["t"] == [START_MS, START_MS + 1_000]
    assert seconds.columns(FRAMES[1:20])["t"] == []


def test_lag_is_in_time_and_in_rows_of_the_worst_partitions() -> None:
    told = seconds.columns(FRAMES)
    assert (told["lag_ms"], told["lag_basis"]) == ([2_500, None], ["offsets", "none"])
    assert told["lag_partitions"] == [12, 12]
    # Of two sources of one topic, the one that is further behind.
    assert told["lag_rows"] == {"orders-1": [7, None], "orders-3": [900, 950]}


def test_state_is_by_operator_whose_names_are_told() -> None:
    told = seconds.columns(FRAMES)
    assert told["state_rows"] == {"0": [40, None], "1": [None, None]}
    assert told["state_bytes"] == {"0": [70_000, None], "1": [5, None]}
    assert told["operators"] == {"0": "dedupe", "1": "join"}


def test_the_columns_are_those_of_the_schema() -> None:
    told = windows.columns("job", FRAMES, 0)["seconds"]
    assert told.keys() == SecondsOut.model_fields.keys()
    assert SecondsOut.model_validate(told).model_dump() == told


def test_in_a_table_the_windows_between_have_nothing() -> None:
    shape = Shape().widened(FRAMES)
    text = (lines([shape.names()]) + lines(shape.rows(FRAMES))).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    names = ("lag_ms", "lag_basis", "lag_partitions", "lag_rows/orders-3", "state_rows/operator_0")
    assert [rows[0][name] for name in names] == ["2500", "offsets", "12", "900", "40"]
    assert {rows[at][name] for at in range(1, 20) for name in names} == {""}
    assert [rows[20][name] for name in names] == ["", "none", "12", "950", ""]

"""Lag and state in roll-ups, against the frames they are made of."""

from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.lag import Basis, Lag
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import Frame
from dashboard.history import slow_columns
from dashboard.history.rollups import coarser, seconds
from tests.factories import frame

naturals = st.integers(0, 2**40)
sizes = st.builds(
    StateSize, st.integers(0, 3), st.just("dedupe"), st.none() | naturals, naturals, st.none()
)
told = st.builds(
    frame,
    st.integers(0, 5_000),
    lag=st.none() | st.builds(Lag, st.none() | naturals, st.sampled_from(Basis)),
    state_sizes=st.lists(sizes, max_size=3).map(tuple),
)


def highest(found: list[int | None]) -> int | None:
    return max((each for each in found if each is not None), default=None)


def rows(each: Frame) -> int | None:
    known = [size.rows for size in each.state_sizes if size.rows is not None]
    return sum(known) if known else None


def size(each: Frame) -> int | None:
    return sum(size.state_bytes for size in each.state_sizes) if each.state_sizes else None


@given(st.lists(told, min_size=1, max_size=20, unique_by=lambda each: each.window))
def test_an_hour_has_the_highest_lag_and_state_of_its_frames(frames: list[Frame]) -> None:
    rolled = coarser(coarser(seconds(frames), 60_000), 3_600_000)
    found = {name: highest(rolled[name].to_pylist()) for name in ("lag_ms", "state_rows")}
    assert found["lag_ms"] == highest([each.lag.lag_ms for each in frames if each.lag])
    assert found["state_rows"] == highest([rows(each) for each in frames])
    assert highest(rolled["state_bytes"].to_pylist()) == highest([size(each) for each in frames])


@given(st.lists(told, min_size=1, max_size=20, unique_by=lambda each: each.window))
def test_an_hour_has_the_highest_state_of_each_operator(frames: list[Frame]) -> None:
    rolled = coarser(coarser(seconds(frames), 60_000), 3_600_000)
    sizes = [size for each in frames for size in each.state_sizes]
    for column, of in (("operator_bytes", "state_bytes"), ("operator_rows", "rows")):
        known = [(str(size.operator), getattr(size, of)) for size in sizes]
        wanted = {
            name: highest([number for other, number in known if other == name])
            for name, number in known
            if number is not None
        }
        found: dict[str, float] = {}
        for row in rolled[column].to_pylist():
            for name, number in row:
                found[name] = max(number, found.get(name, 0.0))
        assert found == wanted


def test_a_job_that_tells_neither_has_neither() -> None:
    [row] = seconds([frame(0), replace(frame(1), lag=Lag())]).to_pylist()
    assert (row["lag_ms"], row["state_rows"], row["state_bytes"]) == (None, None, None)


def test_a_damaged_section_is_not_known() -> None:
    [broken, told] = slow_columns.lag_ms(pa.array([b"\xff", bytes((6, 1, 0, 0))])).tolist()
    assert broken != broken  # NaN
    assert told == 5

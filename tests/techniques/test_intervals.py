from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from techniques.detection import chance
from techniques.intervals import Interval, Intervals
from techniques.view import WINDOW_MS, View
from tests.techniques.detection.traces import START_MS, Setting, trace

MADE = st.builds(
    Interval,
    kind=st.just("flush"),
    start_ms=st.integers(-500, 1_500).map(lambda ms: START_MS + ms / 4),
    end_ms=st.just(0.0),
    executor=st.sampled_from(["", "1", "driver"]),
    operator=st.none() | st.integers(0, 3),
    partition=st.none() | st.integers(0, 3),
    name=st.text(max_size=3),
    input_bytes=st.none() | st.integers(0, 2**40),
)
ROWS = st.lists(
    st.tuples(MADE, st.integers(0, 400)).map(
        lambda pair: replace(pair[0], end_ms=pair[0].start_ms + pair[1])
    ),
    max_size=20,
)


def view(windows: int, rows: list[Interval]) -> View:
    none = np.zeros(windows)
    return View(START_MS, none, none, none, none, none, none, intervals={"flush": rows})


@given(ROWS)
def test_columns_hold_what_went_in(rows: list[Interval]) -> None:
    columns = Intervals.of("flush", rows)

    assert list(columns) == rows
    assert [columns[at] for at in range(len(columns))] == rows
    assert list(columns[1:3]) == rows[1:3]


@given(ROWS)
def test_by_start_is_what_sorting_gives(rows: list[Interval]) -> None:
    by_start = sorted(rows, key=lambda each: each.start_ms)

    assert list(view(10, rows).of("flush")) == by_start


@given(ROWS, st.integers(1, 12))
def test_running_counts_the_intervals_that_touch_a_window(
    rows: list[Interval], windows: int
) -> None:
    made = view(windows, rows)
    touching = [
        sum(
            each.start_ms < made.at_ms(at) + WINDOW_MS and each.end_ms >= made.at_ms(at)
            for each in rows
        )
        for at in range(windows)
    ]

    assert made.running(rows).tolist() == touching


@given(st.lists(st.integers(0, 50), max_size=200))
def test_rises_are_counted_over_all_pairs(values: list[int]) -> None:
    pairs = [(one, other) for at, one in enumerate(values) for other in values[at + 1 :]]

    balance = sum((other > one) - (other < one) for one, other in pairs)
    assert chance.rises(np.array(values, dtype=np.float64)) == balance


def test_what_several_ask_for_is_made_once() -> None:
    made = trace(Setting(seconds=5))
    asked = []

    def work(of: View) -> int:
        asked.append(of)
        return len(of)

    assert [made.once(work), made.once(work)] == [100, 100]
    assert len(asked) == 1
    replace(made, start_ms=0).once(work)
    assert len(asked) == 2

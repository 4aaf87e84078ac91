"""What an incident adds is the planted amount, each second once and by its records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.analysis.added import Added, added

SIZE = 1_000
USUAL = np.full(SIZE, 200_000.0)
RECORDS = np.full(SIZE, 100.0)


def spans(*starts: int) -> list[tuple[int, int]]:
    return [(start * 1_000, start * 1_000 + 2_000) for start in starts]


def test_the_planted_amount_is_told_with_its_interval() -> None:
    random = np.random.default_rng(1)
    p99 = USUAL + random.normal(size=SIZE) * 1_000
    starts = (100, 300, 500, 700)
    for at in starts:
        p99[at : at + 4] += 300_000

    (found,) = added(0, p99, USUAL, RECORDS, {"gc_shadow": spans(*starts)})

    assert found.kind == "gc_shadow"
    assert (found.occurrences, found.seconds) == (4, 16)
    assert found.added_ms == pytest.approx(300, rel=0.02)
    assert found.low_ms is not None
    assert found.high_ms is not None
    assert found.low_ms <= found.added_ms <= found.high_ms
    assert found.share_of_records == pytest.approx(16 / SIZE)


def test_a_second_with_many_records_weighs_more() -> None:
    p99, records = USUAL.copy(), RECORDS.copy()
    p99[100] += 400_000
    records[100] = 300

    (found,) = added(0, p99, USUAL, records, {"straggler": [(100_000, 100_400)]})

    assert found.seconds == 2  # the second, and that which its reach touches
    assert found.added_ms == pytest.approx(400 * 300 / 400)


def test_the_kind_that_adds_most_comes_first_and_nothing_adds_nothing() -> None:
    p99 = USUAL.copy()
    p99[500:504] += 100_000

    first, second = added(0, p99, USUAL, RECORDS, {"quiet": spans(100), "loud": spans(500)})

    assert (first.kind, second.kind) == ("loud", "quiet")
    assert second.added_ms == 0


def test_a_kind_of_which_no_second_is_known_is_left_out() -> None:
    assert added(0, np.full(SIZE, np.nan), USUAL, RECORDS, {"x": spans(100)}) == ()
    assert added(0, USUAL, USUAL, RECORDS, {"x": [(10_000_000, 10_000_001)]}) == ()


@given(st.lists(st.tuples(st.integers(-20, SIZE + 20), st.integers(0, 50)), min_size=1))
def test_no_second_counts_twice(drawn: list[tuple[int, int]]) -> None:
    given_spans = [(at * 1_000, (at + length) * 1_000) for at, length in drawn]

    found: tuple[Added, ...] = added(0, USUAL + 5_000, USUAL, RECORDS, {"x": given_spans})

    for each in found:
        assert each.seconds <= SIZE
        assert each.records == each.seconds * 100
        assert each.added_ms == pytest.approx(5)

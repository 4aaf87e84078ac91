import json

import pytest

from techniques.state_balancing.memory import FORGOTTEN_AFTER_MS, MOST_MOVES, Memory, Move, Verdict

FAILED = Move(3, "2", "1", 1_000, 0, 0.25, 0.5, Verdict.FAILED, surprise=2.0)
MEMORY = Memory("run", ("1", "2"), 1_000, 700.0, (FAILED,))


def test_it_survives_json() -> None:
    kept = json.loads(json.dumps(MEMORY.as_memory()))

    assert kept == MEMORY.as_memory()
    assert Memory.of(kept, "run") == MEMORY


@pytest.mark.parametrize(
    "held", [{}, {"moves": 3}, {**MEMORY.as_memory(), "moves": [{"verdict": "odd"}]}, {"moves": []}]
)
def test_what_is_none_is_an_empty_one(held: dict[str, object]) -> None:
    assert Memory.of(held, "run") == Memory("run", ())


def test_another_run_begins_anew() -> None:
    assert Memory.of(MEMORY.as_memory(), "next") == Memory("next", ())


def test_a_verdict_counts_for_ten_minutes() -> None:
    assert MEMORY.at(1_000 + FORGOTTEN_AFTER_MS - 1, "12").failed(3, "2", "1")
    assert not MEMORY.at(1_000 + FORGOTTEN_AFTER_MS, "12").failed(3, "2", "1")


def test_with_other_executors_it_counts_no_more() -> None:
    assert MEMORY.at(2_000, "21").failed(3, "2", "1")
    changed = MEMORY.at(2_000, "123")
    assert not changed.failed(3, "2", "1")
    assert changed.executors == ("1", "2", "3")
    # What a move costs has little to do with who is there.
    assert changed.cost_ms == 700


def test_a_failed_move_is_that_partition_that_way() -> None:
    assert not MEMORY.failed(4, "2", "1")
    assert not MEMORY.failed(3, "1", "2")


def test_a_surprise_is_turned_round_on_the_way_back() -> None:
    assert MEMORY.surprise("2", "1") == 2.0
    assert MEMORY.surprise("1", "2") == 0.5
    assert MEMORY.surprise("1", "3") == 1.0


def test_it_is_bounded() -> None:
    grown = MEMORY.moved([FAILED] * (2 * MOST_MOVES), 5_000)

    assert len(grown.moves) == MOST_MOVES
    assert grown.at_ms == 5_000
    assert MEMORY.moved([], 5_000) == MEMORY


def test_a_partition_rests_after_a_move() -> None:
    assert not MEMORY.rested(3, 30_999, 30_000)
    assert MEMORY.rested(3, 31_000, 30_000)
    assert MEMORY.rested(9, 2_000_000, 30_000)

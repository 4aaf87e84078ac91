"""Whether a move brought what was predicted."""

import pytest

from techniques.state_balancing.memory import Move, Verdict
from techniques.state_balancing.stages import stateful
from techniques.state_balancing.verdicts import Judged, judged
from tests.techniques.state_balancing.views import START_MS, Task, view

AT = 10
MOVE = Move(1, "2", "1", START_MS + AT * 1_000, START_MS, gain=0.4, ratio=0.5)


def seen(
    after: int = 6,
    *,
    there_ms: float = 100,
    loads_ms: float = 700,
    load: float = 1.0,
    arrives: bool = True,
) -> Judged:
    """A stage a second. Executor 2 takes 200 ms for each of partitions 1 and 2, one after the
    other; partition 1 goes to executor 1 at second `AT`. All take `load` times as long then."""
    rows = []
    for stage in range(AT + after):
        moved = stage >= AT and arrives
        times = load if stage >= AT else 1.0
        own_ms = there_ms + (loads_ms if stage == AT else 0) if moved else 200
        rows += _one_by_one(stage, "1", [(0, 100 * times), (1, own_ms * times)][: 1 + moved])
        rows += _one_by_one(stage, "2", [(2, 200 * times), (1, 200 * times)][: 2 - moved])
    known = stateful(view(rows))
    return judged(MOVE, known, START_MS + (AT + after) * 1_000, patience_ms=30_000)


def _one_by_one(stage: int, executor: str, tasks: list[tuple[int, float]]) -> list[Task]:
    made, waited_ms = [], 0.0
    for partition, lasts_ms in tasks:
        at_ms = stage * 1_000 + waited_ms
        made.append(Task(stage, partition, executor, at_ms, lasts_ms, waited_ms))
        waited_ms += lasts_ms
    return made


def test_a_move_that_brought_its_gain_paid_off() -> None:
    """400 ms before, 200 ms after."""
    found = seen()

    assert found.move.verdict is Verdict.PAID
    assert found.move.surprise == pytest.approx(1.0)
    assert found.cost_ms == pytest.approx(700)


@pytest.mark.parametrize("load", [0.5, 3.0])
def test_a_larger_or_smaller_input_is_not_its_doing(load: float) -> None:
    assert seen(load=load).move.verdict is Verdict.PAID
    assert seen(load=load, there_ms=300).move.verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("there_ms", "verdict"),
    # Half of 40 % is the least; 10 % later than before is worse.
    [(215, Verdict.PAID), (225, Verdict.FAILED), (320, Verdict.FAILED), (345, Verdict.WORSE)],
)
def test_one_that_brought_less_failed(there_ms: float, verdict: Verdict) -> None:
    found = seen(there_ms=there_ms).move

    assert found.verdict is verdict
    assert found.surprise == pytest.approx(there_ms / 100)


def test_until_three_stages_have_run_without_loading_it_waits() -> None:
    assert seen(after=3).move == MOVE
    assert seen(after=4).move.verdict is Verdict.PAID


def test_one_that_did_not_happen_is_given_up_after_a_while() -> None:
    assert seen(after=20, arrives=False).move == MOVE
    assert seen(after=30, arrives=False).move.verdict is Verdict.FAILED

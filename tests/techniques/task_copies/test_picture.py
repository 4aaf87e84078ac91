from techniques.model import Decision, FigureKind
from techniques.task_copies.picture import MOST_STAGES, figure
from tests.techniques.task_copies.views import batches, overtaken, view

DECIDED = Decision({"timeouts_ms": {"0": 150, "4": 60}, "costs_ms": {}}, "")


def test_the_slowest_task_of_each_second_stands_beside_the_timeout() -> None:
    rows = batches([*[100.0] * 9, 400.0] * 30)

    drawn = figure(view(rows), DECIDED)

    assert drawn.kind == FigureKind.LINES
    slowest, timeout = drawn.series
    assert (slowest.name, timeout.name) == ("slowest task of stage 1", "timeout of stage 1")
    assert (slowest.x[0], slowest.x[-1], len(slowest.x)) == (-29, 0, 30)
    assert set(slowest.y) == {400.0}
    assert (timeout.x, timeout.y) == ((-29, 0), (150.0, 150.0))
    assert drawn.note == "No task was copied so far."


def test_a_copied_task_took_until_its_copy_was_done() -> None:
    rows = batches([100.0] * 20)
    rows = [*rows[1:], *overtaken(rows[0], after_ms=150, copy_ms=90)]

    drawn = figure(view(rows), DECIDED)

    assert drawn.series[0].y == (240.0, 100.0)
    assert drawn.note == (
        "Copies in these 30 s: 1 made, 1 came first, 241 ms of task time wasted (10.8%)."
    )


def test_of_many_stages_those_with_a_timeout_and_the_slowest_are_drawn() -> None:
    rows = [row for kind in range(6) for row in batches([100.0 + kind] * 20, kind=kind, tasks=10)]

    drawn = figure(view(rows), DECIDED)

    assert [each.name for each in drawn.series] == [
        "slowest task of stage 1",
        "timeout of stage 1",
        "slowest task of stage 5",
        "timeout of stage 5",
        "slowest task of stage 6",
    ]
    assert f"{MOST_STAGES} of 6 stages are shown" in drawn.note


def test_before_any_task_it_says_that_there_is_nothing_to_draw() -> None:
    drawn = figure(view([]), None)

    assert drawn.series == ()
    assert "Nothing to draw yet" in drawn.note


def test_without_a_decision_there_is_no_timeout_to_draw() -> None:
    (only,) = figure(view(batches([100.0] * 20)), None).series

    assert only.name == "slowest task of stage 1"

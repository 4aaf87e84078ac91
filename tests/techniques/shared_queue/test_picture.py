import pytest

from techniques.model import FigureKind
from techniques.shared_queue.picture import figure
from tests.techniques.pool.views import One, pool, seen, view

BUSY = One(chunks_per_s=200, work_ms=4.0, wait_ms=9.0)


def test_bars_compare_what_is_predicted_and_what_is_seen() -> None:
    drawn = figure(view(pool([BUSY] * 4, policy=4)), None)

    assert drawn.kind == FigureKind.BARS
    assert [each.label for each in drawn.bars] == [
        "a queue per instance, predicted",
        "one queue, predicted",
        "seen now (shared-queue)",
    ]
    assert [each.value for each in drawn.bars] == pytest.approx([16.0, 2.98, 9.0], rel=0.01)
    assert "busy 80%" in drawn.note


def test_without_chunks_the_note_is_all_there_is() -> None:
    for nothing in (view(), view(seconds=0), seen(One(chunks_per_s=1))):
        drawn = figure(nothing, None)
        assert drawn.bars == ()
        assert "too few chunks" in drawn.note

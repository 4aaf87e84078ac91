import numpy as np

from techniques.latency_balancing.picture import figure
from techniques.model import FigureKind
from tests.techniques.pool.views import One, pool, seen, view


def test_each_instance_has_a_line_of_its_weight() -> None:
    weighted = view(pool([One(weight=60.0), One(weight=40.0)], policy=3))
    weighted.pools[0].instances[0].weight[: 30 * 20] = np.nan

    drawn = figure(weighted, None)

    assert drawn.kind == FigureKind.LINES
    first, second = drawn.series
    assert (first.name, second.name) == ("score-0", "score-1")
    # There were no weights before: the line begins where they do.
    assert (len(first.x), len(second.x)) == (30, 60)
    assert (first.x[-1], first.y[-1]) == (0.0, 60.0)


def test_of_many_instances_those_are_drawn_whose_weight_moved_most() -> None:
    many = view(pool([One(weight=10.0)] * 10, policy=3))
    for at in range(3, 10):
        many.pools[0].instances[at].weight[-20:] = 10.0 + at

    drawn = figure(many, None)

    assert [each.name for each in drawn.series] == [f"score-{at}" for at in range(3, 10)]
    assert "7 of 10 instances" in drawn.note


def test_without_weights_the_note_is_all_there_is() -> None:
    drawn = figure(seen(One(), One()), None)

    assert drawn.series == ()
    assert "No weights yet" in drawn.note

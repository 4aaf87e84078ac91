from techniques.largest_backlog.picture import figure
from techniques.model import FigureKind
from tests.techniques.pool.views import One, pool, seen, view


def test_each_instance_has_a_line_of_its_backlog_and_no_spike_is_averaged_away() -> None:
    spiky = view(pool([One(parked=1.0), One(parked=2.0)], tau_ms=80))
    spiky.pools[0].instances[1].parked[-30] = 50.0

    drawn = figure(spiky, None)

    assert drawn.kind == FigureKind.LINES
    assert [each.name for each in drawn.series] == ["score-0", "score-1"]
    assert drawn.series[1].y[-2:] == (50.0, 2.0)
    assert "80 ms" in drawn.note


def test_of_many_instances_the_largest_are_drawn() -> None:
    drawn = figure(seen(*[One(parked=float(at)) for at in range(9)]), None)

    assert [each.name for each in drawn.series] == [f"score-{at}" for at in range(2, 9)]
    assert "7 largest of 9" in drawn.note


def test_without_a_pool_the_note_is_all_there_is() -> None:
    drawn = figure(view(), None)

    assert drawn.series == ()
    assert "no pool" in drawn.note

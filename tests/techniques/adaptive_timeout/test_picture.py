from techniques.adaptive_timeout.picture import figure
from techniques.model import FigureKind
from tests.techniques.pool.views import One, pool, seen, view

PAIR = (One(), One())


def test_the_timeout_and_the_replays_are_lines_over_the_seconds_before_now() -> None:
    drawn = figure(view(pool(PAIR, timeout_ms=12.5, replayed_per_s=6, won_per_s=4)), None)

    assert drawn.kind == FigureKind.LINES
    timeout, replayed = drawn.series
    assert (timeout.name, replayed.name) == ("timeout, ms", "chunks replayed, per s")
    assert timeout.x[0] == -59
    assert timeout.x[-1] == 0
    assert set(timeout.y) == {12.5}
    assert set(replayed.y) == {6.0}
    assert drawn.note == ("360 of 12000 chunks were replayed, 3.0%; 240 of the copies came first.")


def test_while_there_is_no_timeout_nothing_is_drawn_and_the_note_says_so() -> None:
    drawn = figure(seen(*PAIR), None)

    assert drawn.series == ()
    assert drawn.note == "No chunk was replayed in the time shown."


def test_pools_on_two_hosts_have_lines_of_their_own() -> None:
    pools = [pool(PAIR, host=host, timeout_ms=9) for host in ("a", "b")]

    names = [each.name for each in figure(view(*pools), None).series]
    assert names[0] == "timeout of scores on a, ms"
    assert len(set(names)) == 4

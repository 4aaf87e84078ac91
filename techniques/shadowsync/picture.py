"""The paper's Figure 15: p99 against how many compactions run at once, with the knee.

It shows the knee that the controller found and does not compute one: this runs in the web server,
which should not load SciPy.
"""

from techniques.model import Axis, Decision, Dot, Figure, FigureKind, Mark
from techniques.shadowsync.exploration import Exploration, State
from techniques.shadowsync.knee import Point, lacks, pairs, points
from techniques.view import View


def figure(view: View, decision: Decision | None) -> Figure:
    """Draws the windows that the search has seen or, without a search, those of the view."""
    search = Exploration.of(decision.memory) if decision else None
    found = points(search.curve(view) if search else pairs(view))
    at = search.knee if search else None
    return Figure(
        kind=FigureKind.POINTS,
        title="p99 by compactions at once",
        x=Axis("compactions at once on the busiest executor"),
        y=Axis("p99 latency, median of 50 ms windows", "ms"),
        points=tuple(_dot(point) for point in found),
        weighs="windows",
        mark=None if at is None else Mark(at, f"knee: {at}"),
        note=_note(found, search),
    )


def _dot(point: Point) -> Dot:
    at_once = f"{point.level} compaction{'' if point.level == 1 else 's'} at once"
    says = f"{at_once}: p99 {point.p99_ms:.3g} ms, {point.windows} windows"
    return Dot(point.level, point.p99_ms, point.windows, says)


def _note(found: tuple[Point, ...], search: Exploration | None) -> str:
    if search and search.state is State.EXPLORING:
        return f"Looking for the knee: step {search.step + 1} of {len(search.steps)}."
    if search and search.why:
        return _sentence(search.why)
    if why := lacks(found):
        return _sentence(f"no knee: {why}" if found else f"nothing to draw yet: {why}")
    return "The search for a knee has not started yet."


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."

"""The share of chunks that each instance is to get, over time."""

import numpy as np

from techniques.model import Axis, Decision, Figure, FigureKind
from techniques.pool.controllers.lines import BEFORE_NOW, instances, line
from techniques.view import Floats, View


def figure(view: View, decision: Decision | None) -> Figure:
    drawn, known = instances(view, lambda each: each.weight, _unusual)
    return Figure(
        kind=FigureKind.LINES,
        title="Weights of the instances",
        x=BEFORE_NOW,
        y=Axis("share of a sender's chunks, mean of all senders", "%"),
        series=tuple(line(view, name, values, np.mean) for name, values in drawn),
        note=_note(len(drawn), known),
    )


def _unusual(weights: Floats) -> float:
    """How far the weight moved: those that did not move are the ones to leave out."""
    return float(np.nanmax(weights) - np.nanmin(weights))


def _note(drawn: int, known: int) -> str:
    if not known:
        return "No weights yet: they are there while chunks are handed out by latency."
    if drawn < known:
        return f"The {drawn} of {known} instances whose weight moved most."
    return "A weight never falls below 1 %, so that an instance that recovers is noticed."

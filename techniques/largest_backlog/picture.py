"""Results that wait at each instance to be sent on, over time."""

import numpy as np

from techniques.model import Axis, Decision, Figure, FigureKind
from techniques.pool.controllers.lines import BEFORE_NOW, instances, line
from techniques.view import View


def figure(view: View, decision: Decision | None) -> Figure:
    drawn, known = instances(
        view, lambda each: each.parked, lambda parked: float(np.nansum(parked))
    )
    return Figure(
        kind=FigureKind.LINES,
        title="Outgoing backlog of the instances",
        x=BEFORE_NOW,
        y=Axis("chunks that wait to be sent on, most in each second"),
        series=tuple(line(view, name, values, np.max) for name, values in drawn),
        note=_note(view, len(drawn), known),
    )


def _note(view: View, drawn: int, known: int) -> str:
    if not known:
        return "Nothing to draw yet: no pool of this job was seen."
    taus = sorted({pool.tau_ms for pool in view.pools if pool.tau_ms})
    turns = f"The largest may send, for {taus[0]} ms each time." if taus else "Everybody may send."
    return f"{turns} The {drawn} largest of {known}." if drawn < known else turns

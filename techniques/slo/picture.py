"""The job's utility over the last two minutes, and the total of its cluster at its actions."""

import numpy as np

from techniques.model import Axis, Decision, Figure, FigureKind, Series
from techniques.slo.measured import estimated_ms
from techniques.slo.memory import Memory
from techniques.slo.objective import Objective
from techniques.slo.of_job import juice_of
from techniques.slo.window import SUB_WINDOW_MS
from techniques.view import WINDOW_MS, View

TITLE = "Utility"
TIME, UTILITY = Axis("time, 0 is now", "s"), Axis("utility")
PER_BIN = SUB_WINDOW_MS // WINDOW_MS


def figure(view: View, decision: Decision | None) -> Figure:
    objective = view.objective
    if objective is None:
        return _note("This job has no SLO.")
    if not (own := _own(view, objective)).x:
        return _note("What the SLO is about is not measured yet.")
    ends = (own.x[0], 0.0)
    most = Series("its maximum", ends, (objective.priority, objective.priority))
    total = _total(view, decision)
    return Figure(
        FigureKind.LINES,
        TITLE,
        TIME,
        UTILITY,
        series=(own, most, *((total,) if total.x else ())),
        note="Latency is that of the records processed in ten seconds, estimated from windows.",
    )


def _own(view: View, objective: Objective) -> Series:
    """A point per ten seconds. Juice is that of the last minute, and drawn for all of them."""
    juice = juice_of(view) if objective.juice else None
    x: list[float] = []
    y: list[float] = []
    for end in range(len(view) % PER_BIN or PER_BIN, len(view) + 1, PER_BIN):
        target = objective.latency
        ten_seconds = slice(max(0, end - PER_BIN), end)
        latency_ms = estimated_ms(view, target.statistic, ten_seconds) if target else None
        if (utility := objective.utility(latency_ms, juice)) is not None:
            x.append((end - len(view)) * WINDOW_MS / 1_000)
            y.append(utility)
    return Series("this job", tuple(x), tuple(y))


def _total(view: View, decision: Decision | None) -> Series:
    """The total as the machine noted it at its actions."""
    log = Memory.of(decision.memory).log if decision and decision.memory else ()
    known = [(each.at_ms, each.utility) for each in log if each.utility is not None]
    seen = [(at_ms, utility) for at_ms, utility in known if at_ms >= view.start_ms]
    at = np.array([at_ms for at_ms, _ in seen], dtype=np.float64)
    return Series(
        "total of the cluster",
        tuple(((at - view.end_ms) / 1_000).tolist()),
        tuple(utility for _, utility in seen),
    )


def _note(text: str) -> Figure:
    return Figure(FigureKind.LINES, TITLE, TIME, UTILITY, note=text)

"""The slowest task of each second, by stage, and the timeout after which it gets a copy."""

from collections.abc import Mapping

import numpy as np

from techniques.model import Axis, Decision, Figure, FigureKind, Series
from techniques.pool.controllers.lines import BEFORE_NOW, line
from techniques.task_copies.attempts import Task, copies, tasks_of
from techniques.view import WINDOW_MS, Floats, View

# Two lines each, and the page has seven colours that everybody can tell apart.
MOST_STAGES = 3


def figure(view: View, decision: Decision | None) -> Figure:
    tasks = tasks_of(view.tasks, view.start_ms)
    timeouts = _timeouts(decision)
    slowest = {kind: _slowest(view, tasks, kind) for kind in {task.kind for task in tasks}}
    # Those with a timeout first, then those with the slowest tasks.
    ranked = sorted(slowest, key=lambda kind: (kind not in timeouts, -_longest(slowest[kind])))
    series: list[Series] = []
    for kind in sorted(ranked[:MOST_STAGES]):
        name = f"stage {kind + 1}"
        seconds = line(view, f"slowest task of {name}", slowest[kind], np.max)
        series.append(seconds)
        if (timeout := timeouts.get(kind)) is not None and seconds.x:
            ends = (seconds.x[0], seconds.x[-1])
            series.append(Series(f"timeout of {name}", ends, (timeout, timeout)))
    return Figure(
        kind=FigureKind.LINES,
        title="Slowest tasks and their timeout",
        x=BEFORE_NOW,
        y=Axis("time from a task's launch to its first result", "ms"),
        series=tuple(series),
        note=_note(view, tasks, len(slowest)),
    )


def _slowest(view: View, tasks: list[Task], kind: int) -> Floats:
    """For each window the longest time that a task of this kind took, copies and retries included;
    NaN in windows in which none succeeded."""
    values = np.full(len(view), np.nan)
    for task in tasks:
        if task.kind != kind or (winner := task.winner) is None:
            continue
        window = int((winner.end_ms - view.start_ms) // WINDOW_MS)
        if 0 <= window < len(view):
            began_ms = min(each.start_ms for each in task.attempts)
            values[window] = np.fmax(values[window], winner.end_ms - began_ms)
    return values


def _longest(values: Floats) -> float:
    return float(np.max(values, initial=0.0, where=~np.isnan(values)))


def _timeouts(decision: Decision | None) -> dict[int, float]:
    held = decision.settings.get("timeouts_ms") if decision else None
    if not isinstance(held, Mapping):
        return {}
    return {int(kind): float(ms) for kind, ms in held.items() if isinstance(ms, int | float)}


def _note(view: View, tasks: list[Task], stages: int) -> str:
    if not tasks:
        return "Nothing to draw yet: no task of a known stage has ended."
    found = copies(tasks)
    seconds = (view.end_ms - view.start_ms) // 1000
    said = f"Copies in these {seconds} s: {found}." if found.made else "No task was copied so far."
    return said if stages <= MOST_STAGES else f"{said} {MOST_STAGES} of {stages} stages are shown."

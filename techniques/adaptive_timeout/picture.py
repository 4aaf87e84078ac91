"""The timeout over time, and how many chunks were replayed by it."""

import numpy as np

from techniques.model import Axis, Decision, Figure, FigureKind, Series
from techniques.pool.controllers.lines import BEFORE_NOW, line, of_pool
from techniques.view import View


def figure(view: View, decision: Decision | None) -> Figure:
    series: list[Series] = []
    for pool in view.pools:
        of = of_pool(view, pool)
        if np.isnan(pool.timeout_ms).all():
            continue
        series.append(line(view, f"timeout{of}, ms", pool.timeout_ms, np.nanmax))
        series.append(line(view, f"chunks replayed{of}, per s", pool.replayed, np.nansum))
    return Figure(
        kind=FigureKind.LINES,
        title="Timeout and replays",
        x=BEFORE_NOW,
        y=Axis("timeout in ms, replays per second"),
        series=tuple(series),
        note=_note(view),
    )


def _note(view: View) -> str:
    sent, replayed, won = (
        sum(float(np.nansum(getattr(pool, name))) for pool in view.pools)
        for name in ("chunks", "replayed", "won")
    )
    if not replayed:
        return "No chunk was replayed in the time shown."
    return (
        f"{replayed:.0f} of {sent:.0f} chunks were replayed, {replayed / max(sent, replayed):.1%}; "
        f"{won:.0f} of the copies came first."
    )

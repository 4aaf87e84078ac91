"""A job's utility now, from its view and its objective.

The latency is the one that the SLO is about, over the last complete ten seconds, where the worker
has it (`View.objective_ms`). Where nothing completed in those (batches may take longer) it is
estimated over the last minute from the percentiles of the 50 ms windows: as if between two known
percentiles of a window its records were spread evenly. A job without any input is not late; one
that has input and completed nothing for a minute is late by a minute at least.
"""

from dataclasses import dataclass

import numpy as np

from techniques.slo import window
from techniques.slo.objective import Objective, Statistic, meets
from techniques.slo.of_job import juice_of
from techniques.view import WINDOW_MS, Floats, View

QUANTILES = {Statistic.P95: 0.95, Statistic.P99: 0.99, Statistic.P999: 0.999}


@dataclass(frozen=True)
class Measured:
    """None where it is not known."""

    latency_ms: float | None
    juice: float | None
    utility: float | None
    meets: bool | None


NOTHING = Measured(None, None, None, None)


def measured(view: View) -> Measured:
    objective = view.objective
    if objective is None or not window.has_data(view):
        return NOTHING
    latency_ms = _latency_ms(view, objective)
    juice = juice_of(view) if objective.juice else None
    return Measured(
        latency_ms,
        juice,
        objective.utility(latency_ms, juice),
        meets(objective, latency_ms, juice),
    )


def _latency_ms(view: View, objective: Objective) -> float | None:
    if objective.latency is None:
        return None
    if view.objective_ms is not None:
        return view.objective_ms
    minute = slice(-window.MINUTE_MS // WINDOW_MS, None)
    if np.nansum(view.records[minute]) > 0:
        return estimated_ms(view, objective.latency.statistic, minute)
    backlog = view.backlog_rows[minute]
    waits = np.nanmax(backlog) > 0 if not np.isnan(backlog).all() else False
    return float(window.MINUTE_MS) if waits else 0.0


def estimated_ms(view: View, statistic: Statistic, windows: slice) -> float | None:
    """A percentile, or the mean, of the records of these windows."""
    rows = np.stack([view.p50_ms[windows], view.p99_ms[windows], view.p999_ms[windows]], axis=1)
    weights = view.records[windows]
    known = ~np.isnan(rows).any(axis=1) & (weights > 0)
    if not known.any():
        return None
    rows, weights = np.maximum.accumulate(rows[known], axis=1), weights[known]
    if statistic is Statistic.MEAN:
        middle = np.stack([rows[:, 0], (rows[:, 0] + rows[:, 1]) / 2, rows[:, 2]], axis=1)
        return float((middle @ np.array([0.5, 0.49, 0.01]) * weights).sum() / weights.sum())
    return _quantile(rows, weights, QUANTILES[statistic])


def _quantile(rows: Floats, weights: Floats, share: float) -> float:
    """The value at or below which so many of all records are, by halving."""
    low, high = float(rows.min()), float(rows.max())
    total = weights.sum()
    for _ in range(40):
        value = (low + high) / 2
        below = float((weights * _below(rows, value)).sum())
        low, high = (value, high) if below < share * total else (low, value)
    return high


def _below(rows: Floats, value: float) -> Floats:
    """The share of each window's records at or below the value."""
    p50, p99, p999 = rows.T
    with np.errstate(divide="ignore", invalid="ignore"):
        to_p99 = 0.5 + 0.49 * (value - p50) / (p99 - p50)
        to_p999 = 0.99 + 0.009 * (value - p99) / (p999 - p99)
    found = np.where(value < p99, to_p99, np.where(value < p999, to_p999, 1.0))
    return np.where(value < p50, 0.0, found)

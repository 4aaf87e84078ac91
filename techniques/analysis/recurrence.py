"""Whether incidents come at certain hours of the day or days of the week, and which.

Incidents come in bursts: thirty in one bad hour say nothing about that hour of other days. So a day
counts once for each hour in which it has an incident. If hours did not matter, the hours that a
day has incidents in would be any of those it was observed in; the number of days that have one in
a given hour is then a sum of independent trials (Poisson-binomial), whose tail is computed
exactly. Bursts that fill neighbouring hours do not disturb this: only one hour is looked at a
time. The p-values are corrected for the number of hours tried (Bonferroni). Weekdays likewise, by
weeks. All in UTC, moved by `offset_ms`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from techniques.intervals import Floats, Ints

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
HOURS, DAYS = 24, 7
# 1970-01-01 was a Thursday; weekday 0 is a Monday.
FIRST_WEEKDAY = 3
LEVEL = 0.05

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Often:
    """An hour (0-23) or weekday (0 = Monday) with more than an even spread gives: in `hits` of
    `tries` days (or weeks), `expected` by chance. `p_value` is corrected for all tried."""

    place: int
    hits: int
    tries: int
    expected: float
    p_value: float


@dataclass(frozen=True)
class Recurrence:
    """`table` counts incidents by weekday (row) and hour (column)."""

    table: tuple[tuple[int, ...], ...]
    hours: tuple[Often, ...]
    weekdays: tuple[Often, ...]


def recurrence(
    onsets_ms: Sequence[int], start_ms: int, end_ms: int, offset_ms: int = 0
) -> Recurrence:
    """Counts incidents that begin in the range, which was observed as a whole. An hour or a weekday
    that the range touches only in part counts as observed."""
    onsets = np.array([at for at in onsets_ms if start_ms <= at < end_ms], dtype=np.int64)
    moved = onsets + offset_ms
    table = np.zeros((DAYS, HOURS), dtype=np.int64)
    np.add.at(table, (_weekday(moved // DAY_MS), moved // HOUR_MS % HOURS), 1)
    first_ms, last_ms = start_ms + offset_ms, max(start_ms, end_ms - 1) + offset_ms
    hours = _cells(moved // HOUR_MS, first_ms // HOUR_MS, last_ms // HOUR_MS, 0, HOURS)
    weekdays = _cells(moved // DAY_MS, first_ms // DAY_MS, last_ms // DAY_MS, FIRST_WEEKDAY, DAYS)
    return Recurrence(
        tuple(tuple(int(count) for count in row) for row in table),
        _often(*hours),
        _often(*weekdays),
    )


def _weekday(days: Ints) -> Ints:
    return (days + FIRST_WEEKDAY) % DAYS


def _cells(units: Ints, first: int, last: int, phase: int, period: int) -> tuple[Bools, Bools]:
    """Which places of each period have an incident, and which were observed: one row per period."""
    base = (first + phase) // period
    rows = (last + phase) // period - base + 1
    occupied = np.zeros((rows, period), dtype=bool)
    observed = np.zeros((rows, period), dtype=bool)
    places = units + phase
    occupied[places // period - base, places % period] = True
    seen = np.arange(first, last + 1) + phase
    observed[seen // period - base, seen % period] = True
    return occupied & observed, observed


def _often(occupied: Bools, observed: Bools) -> tuple[Often, ...]:
    shares = occupied.sum(axis=1) / np.maximum(1, observed.sum(axis=1))
    places = occupied.shape[1]
    found = []
    for place in range(places):
        rows = observed[:, place]
        hits = int(occupied[rows, place].sum())
        p_value = min(1.0, places * tail(shares[rows], hits))
        if hits and p_value <= LEVEL:
            found.append(Often(place, hits, int(rows.sum()), float(shares[rows].sum()), p_value))
    return tuple(sorted(found, key=lambda each: each.p_value))


def tail(shares: Floats, hits: int) -> float:
    """P(X ≥ hits), X the number of successes of independent trials with these probabilities."""
    ways = np.ones(1)
    for share in shares:
        ways = np.convolve(ways, (1 - share, share))
    return float(min(1.0, ways[hits:].sum()))

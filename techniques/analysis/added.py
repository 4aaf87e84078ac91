"""How much latency each kind of incident adds: the seconds inside its incidents against those just
outside, each second with the weight of its records.

The p99 outside is that of the same ten minutes (`scan.usual_us`), so that an incident at a busy
hour is not blamed for the hour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from techniques.intervals import Floats

STEP_MS = 1_000
# A record that waited completes later: this long after the cause its latency counts.
REACH_MS = 1_500
RESAMPLES = 1_000
FEWEST = 3

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Added:
    """`added_ms` is the mean of p99 inside less the usual p99, weighted by records, with a 95 %
    interval from resampling the occurrences (None for fewer than three)."""

    kind: str
    occurrences: int
    seconds: int
    records: int
    share_of_records: float
    p99_ms: float
    usual_p99_ms: float
    added_ms: float
    low_ms: float | None
    high_ms: float | None


def added(
    start_ms: int,
    p99_us: Floats,
    usual_us: Floats,
    records: Floats,
    spans_ms: Mapping[str, Spans],
) -> tuple[Added, ...]:
    """Arrays have one value per second from `start_ms` on; NaN is not known. Kinds of which no
    second is known are left out; the kind that adds most, over all records, comes first."""
    told = np.nan_to_num(records)
    weights = np.where(np.isnan(p99_us) | np.isnan(usual_us), 0.0, told)
    all_records = float(told.sum())
    found = [
        each
        for kind, spans in spans_ms.items()
        if (each := _of_kind(kind, spans, start_ms, p99_us, usual_us, weights, all_records))
    ]
    return tuple(sorted(found, key=lambda each: -each.added_ms * each.records))


def _of_kind(
    kind: str,
    spans: Spans,
    start_ms: int,
    p99_us: Floats,
    usual_us: Floats,
    weights: Floats,
    all_records: float,
) -> Added | None:
    inside = [
        seconds for span in _joined(spans) if len(seconds := _seconds(span, start_ms, weights))
    ]
    if not inside:
        return None
    places = np.unique(np.concatenate(inside))
    weight = weights[places]
    rows = np.array(
        [(weights[each] @ (p99_us[each] - usual_us[each]), weights[each].sum()) for each in inside]
    )
    low, high = _interval(rows)
    p99, usual = (
        float(np.average(values[places], weights=weight)) / 1000 for values in (p99_us, usual_us)
    )
    return Added(
        kind=kind,
        occurrences=len(inside),
        seconds=len(places),
        records=int(weight.sum()),
        share_of_records=float(weight.sum()) / all_records,
        p99_ms=p99,
        usual_p99_ms=usual,
        added_ms=float(rows[:, 0].sum() / rows[:, 1].sum()) / 1000,
        low_ms=low,
        high_ms=high,
    )


def _seconds(
    span: tuple[int, int], start_ms: int, weights: Floats
) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """The seconds with records that the span, with its reach, touches."""
    first = max(0, (span[0] - start_ms) // STEP_MS)
    after = max(first, (span[1] + REACH_MS - 1 - start_ms) // STEP_MS + 1)
    return first + np.flatnonzero(weights[first:after])


def _joined(spans: Spans) -> list[tuple[int, int]]:
    """Overlapping occurrences as one, so that no second counts twice."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + REACH_MS + STEP_MS:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _interval(rows: Floats) -> tuple[float | None, float | None]:
    if len(rows) < FEWEST:
        return None, None
    drawn = np.random.default_rng(0).integers(len(rows), size=(RESAMPLES, len(rows)))
    sums = rows[drawn].sum(axis=1)
    low, high = np.percentile(sums[:, 0] / sums[:, 1] / 1000, [2.5, 97.5])
    return float(low), float(high)

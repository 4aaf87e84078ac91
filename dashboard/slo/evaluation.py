"""One bin of a job against its objective. Pure.

What heartbeats carry, the p99 of processed records of each bin, is taken from them; everything else
from the frames that the worker reads anyway. A bin in which nothing was measured is no outcome:
no data is neither good nor bad.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from collectors.formats.pulse import BIN_MS, Recent
from dashboard.series.latency_bins import LatencyBins
from dashboard.slo.burn import State
from techniques.slo.objective import LatencyTarget, Objective, Of, Statistic, meets
from techniques.view import View


@dataclass(frozen=True)
class Outcome:
    """`met` is None where the bin does not tell: then it is no outcome. One target that is missed
    tells it, also where another is not measured and the utility is not known."""

    end_ms: int
    latency_ms: float | None
    juice: float | None
    met: bool | None
    utility: float | None

    @property
    def start_ms(self) -> int:
        return self.end_ms - BIN_MS


def told_by_pulse(objective: Objective) -> bool:
    """Whether heartbeats are enough to judge it, so that it costs nothing per frame."""
    return objective.juice is None and objective.latency is not None and _is_p99(objective.latency)


def of_pulse(objective: Objective, recent: Recent, after_ms: int) -> list[Outcome]:
    """The bins that ended after `after_ms`; of an SLO that was never judged only the newest."""
    ends = range(recent.start_ms + BIN_MS, recent.last_start_ms + 2 * BIN_MS, BIN_MS)
    told = zip(ends, recent.p99_us, strict=True) if recent.p99_us else ()
    found = [
        _outcome(objective, end_ms, p99_us / 1000, None)
        for end_ms, p99_us in told
        if end_ms > after_ms and p99_us is not None
    ]
    return found if after_ms else found[-1:]


def of_history(
    objective: Objective,
    bins: LatencyBins | None,
    view: View,
    after_ms: int,
    juice_of: Callable[[View], float | None],
) -> list[Outcome]:
    """Likewise. Juice is that of the last minute, so it is known at the end of the newest bin only,
    and costs nothing where it is not asked for."""
    latencies = _latencies(objective, bins, view, after_ms)
    newest_ms = max(latencies, default=0)
    juice = juice_of(view) if objective.juice and latencies else None
    return [
        _outcome(objective, end_ms, latency_ms, juice if end_ms == newest_ms else None)
        for end_ms, latency_ms in latencies.items()
    ]


def _latencies(
    objective: Objective, bins: LatencyBins | None, view: View, after_ms: int
) -> dict[int, float | None]:
    """By the end of the bin."""
    if objective.latency is None:
        end_ms = last_bin_end_ms(view)
        return {end_ms: None} if end_ms > after_ms else {}
    found: Sequence[tuple[int, float | None]] = [
        (each.end_ms, each.ms(objective.latency.statistic))
        for each in (bins.since(after_ms) if bins else ())
    ]
    return dict(found if after_ms else found[-1:])


def last_bin_end_ms(view: View) -> int:
    return view.end_ms // BIN_MS * BIN_MS if len(view) else 0


def _outcome(
    objective: Objective, end_ms: int, latency_ms: float | None, juice: float | None
) -> Outcome:
    return Outcome(
        end_ms,
        latency_ms,
        juice,
        meets(objective, latency_ms, juice),
        objective.utility(latency_ms, juice),
    )


def after(state: State, outcomes: Sequence[Outcome]) -> State:
    for each in outcomes:
        if each.met is not None:
            state = state.after(each.start_ms, each.end_ms, each.met)
    return state


def _is_p99(latency: LatencyTarget) -> bool:
    return (latency.of, latency.statistic) == (Of.PROCESSED, Statistic.P99)

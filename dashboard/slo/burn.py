"""When an SLO is violated and when it is restored: burn rates of its error budget. Pure.

An SLO is judged once per *bin* of ten seconds; 1 % of the bins may miss it, which is its error
budget. The *burn rate* over a number of bins is the share that missed it, in multiples of that 1 %.
As in the SRE workbook, chapter 5, an alert needs a high burn rate over a long window, so that a
moment's lateness calls nobody, and over a short one at its end, so that it is over soon after the
cause is. Both pairs keep the workbook's rates and its ratio of about 12 between the windows. These
are shorter, because its budget is of 30 days and ours of one, and because the windows of frames
that show the cause are in Redis for an hour:

    fast  14.4 × over  5 min, and over 30 s: five bins of thirty, 5 % of a day's budget. A job that
          misses its SLO all the time is told of after 50 s.
    slow   6 ×  over  1 h,   and over 5 min: 22 bins of 360, a quarter of a day's budget, which a
          bin now and then never makes and a hiccup with every third checkpoint does.

Windows count bins in which something was measured: those of a job with a batch every ten minutes
are longer by the clock. A job or an objective that is young counts as if half of each window had
been met before. The SLO is restored once no pair burns and a minute of bins in a row met it.
"""

from dataclasses import dataclass, replace

ALLOWED = 0.01
MET, MISSED = "0", "1"
# This many bins in a row have to meet it.
QUIET_BINS = 6


@dataclass(frozen=True)
class Pair:
    name: str
    rate: float
    long_bins: int
    short_bins: int

    def burns(self, outcomes: str) -> bool:
        least = self.long_bins // 2
        return (
            rate(outcomes[-self.long_bins :], least) >= self.rate
            and rate(outcomes[-self.short_bins :]) >= self.rate
        )


FAST = Pair("fast", 14.4, 30, 3)
SLOW = Pair("slow", 6.0, 360, 30)
PAIRS = (FAST, SLOW)
MOST_OUTCOMES = max(pair.long_bins for pair in PAIRS)


@dataclass(frozen=True)
class State:
    """`outcomes` of the last bins, the newest last; `missing_ms` is the start of the bins that are
    missed now and again, `violated_ms` the same once the SLO is violated."""

    judged_ms: int = 0
    outcomes: str = ""
    missing_ms: int | None = None
    violated_ms: int | None = None

    def after(self, start_ms: int, end_ms: int, met: bool) -> "State":
        outcomes = f"{self.outcomes}{MET if met else MISSED}"[-MOST_OUTCOMES:]
        missing_ms = self.missing_ms
        if not met and missing_ms is None:
            missing_ms = start_ms
        now = replace(self, judged_ms=end_ms, outcomes=outcomes, missing_ms=missing_ms)
        burns = any(pair.burns(outcomes) for pair in PAIRS)
        if burns and now.violated_ms is None:
            return replace(now, violated_ms=missing_ms)
        if not burns and outcomes.endswith(MET * QUIET_BINS):
            return replace(now, missing_ms=None, violated_ms=None)
        return now


def rate(outcomes: str, least: int = 0) -> float:
    """The share that missed the SLO in multiples of what is allowed, as if there were at least so
    many bins."""
    judged = max(len(outcomes), least)
    return round(outcomes.count(MISSED) / judged / ALLOWED, 6) if judged else 0.0


def burning(outcomes: str) -> Pair | None:
    """The quickest pair that burns."""
    return next((pair for pair in PAIRS if pair.burns(outcomes)), None)

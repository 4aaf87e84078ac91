"""Algorithm 1 of Du & Gupta over the tasks of one stage, of which copies hide the tail.

Without copies a task's duration is known. With them the slowest are *censored*: a task that was
overtaken by its copy is killed, and all that is known of it is that it would have run longer than
the age at which that happened. Three simple ways to count it are wrong:

    not at all              each period cuts off the slowest tenth and the next one takes its p90
                            from the rest: the timeout runs away downwards
    as the copy's duration  the same, for the copy of a straggler is an ordinary task
    as that age             the copy wins a little after the timeout, so p99 looks like p90, the
                            tail seems gone and the timeout leaps up to p99.9, until it is back:
                            the timeout swings between the two

So an overtaken task counts as longer than any that ended. Its rank is right, because the timeout
at which its copy began is above all percentiles that can become the timeout: fed back, a steady
workload keeps its timeout. And it is "very long" in the sense of the algorithm, because a copy that
began later was quicker. That ends by itself: where there is no tail, copies lose, and the durations
of the tasks that overtook them are known. Only if so many tasks are overtaken that the percentile
which the algorithm chooses is among them do their ages count, as lower bounds: then the timeout
rises by a copy's duration a period, at most to the longest task, until enough tasks end before it.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf

from techniques.adaptive_timeout.algorithm import LONG, percentile, timeout

# A task that is done sooner costs less than to start a copy of it and to fetch its input again.
FLOOR_MS = 50
# A copy takes about the median itself, so one that begins before that hardly ever comes first.
ABOVE_MEDIAN = 1.2
# Tasks for which this is too short get no timeout.
MOST_MS = 3_600_000
# A timeout that differs by less from the one in force is not worth another decision.
STEADY = 0.1


@dataclass(frozen=True)
class Durations:
    """The first attempts of tasks, those that are no copies: durations of the ones that ended, and
    the ages of those that were overtaken by a copy. There is at least one."""

    ended_ms: tuple[float, ...]
    overtaken_ms: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.ended_ms) + len(self.overtaken_ms)

    @cached_property
    def ranked_ms(self) -> list[float]:
        """Ascending; overtaken ones are infinite."""
        return sorted(self.ended_ms) + [inf] * len(self.overtaken_ms)

    @cached_property
    def bounds_ms(self) -> list[float]:
        """Ascending; overtaken ones with their ages, so that no value is too large."""
        return sorted((*self.ended_ms, *self.overtaken_ms))

    def at(self, per_mille: int) -> float:
        """The percentile; infinite if it is among the overtaken ones."""
        return percentile(self.ranked_ms, per_mille)

    @property
    def median_ms(self) -> float:
        found = self.at(500)
        return found if found < inf else percentile(self.bounds_ms, 500)

    @property
    def has_tail(self) -> bool:
        """Whether line 5 or line 7 of the algorithm finds the tail very long."""
        return self.at(990) > LONG * self.at(900) or self.at(999) > LONG * self.at(950)


def lowest_ms(of: Durations) -> int:
    """The shortest timeout that makes sense for these tasks."""
    return max(FLOOR_MS, ceil(ABOVE_MEDIAN * of.median_ms))


def timeout_ms(of: Durations, before_ms: float | None = None) -> int | None:
    """The age at which a task gets a copy, in whole milliseconds; None if it would be above
    `MOST_MS`. `before_ms` is the timeout in force, which stays if it is near enough."""
    chosen = timeout(of.ranked_ms)
    if chosen == inf:
        chosen = timeout(of.bounds_ms)
    if chosen is None:
        return None
    found = max(lowest_ms(of), ceil(chosen))
    if found > MOST_MS:
        return None
    return steady(found, before_ms, lowest_ms(of))


def steady(found: int, before: float | None, lowest: int) -> int:
    """Returns the value in force if it differs little from the one found and is not too low."""
    if before is None or before < lowest or abs(found - before) > STEADY * before:
        return found
    return round(before)

"""What is measured of a simulated job over the sliding minute that the product measures over."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from techniques.slo.simulation.cluster import Job, JobSeen, OperatorSeen

MINUTE_ROUNDS = 6


class Minute:
    """Mutable: keeps the last rounds of each job."""

    def __init__(self) -> None:
        self._rounds: dict[str, deque[JobSeen]] = {}

    def after(self, job: Job, seen: JobSeen) -> JobSeen:
        rounds = self._rounds.setdefault(job.name, deque(maxlen=MINUTE_ROUNDS))
        rounds.append(seen)
        operators = {
            name: _mean(each, [one.operators[name] for one in rounds])
            for name, each in seen.operators.items()
        }
        return replace(seen, latency_ms=_latency_ms(job, rounds), operators=operators)


def _latency_ms(job: Job, rounds: Sequence[JobSeen]) -> float:
    """Weighted by what left the job."""
    left = [sum(one.operators[it].executed for it in job.topology.sinks) for one in rounds]
    spent = sum(out * one.latency_ms for out, one in zip(left, rounds, strict=True) if out)
    return spent / sum(left) if sum(left) else float("nan")


def _mean(now: OperatorSeen, rounds: Sequence[OperatorSeen]) -> OperatorSeen:
    """How many threads there are is known at once; the rest is a mean of a round."""
    count, executed = len(rounds), sum(one.executed for one in rounds)
    work_ms = sum(one.executed * one.execute_ms for one in rounds if one.executed)
    return replace(
        now,
        arrived=sum(one.arrived for one in rounds) / count,
        executed=executed / count,
        arrived_of={it: sum(one.arrived_of[it] for one in rounds) / count for it in now.arrived_of},
        execute_ms=work_ms / executed if executed else float("nan"),
        busiest=sum(one.busiest for one in rounds) / count,
    )

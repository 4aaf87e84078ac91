"""Juice of simulated jobs (section 6), over a sliding minute of rounds."""

from collections import deque
from collections.abc import Mapping

from techniques.slo.simulation.cluster import Job, JobSeen, Seen

MINUTE_ROUNDS = 6


class Juices:
    """Mutable: keeps the last rounds of each job that has a juice SLO."""

    def __init__(self, jobs: Mapping[str, Job]) -> None:
        self.jobs = {name: job for name, job in jobs.items() if job.objective.juice is not None}
        self._rounds: dict[str, deque[JobSeen]] = {}

    def after(self, seen: Seen) -> Mapping[str, float]:
        found = {}
        for name, job in self.jobs.items():
            if name in seen.jobs:
                rounds = self._rounds.setdefault(name, deque(maxlen=MINUTE_ROUNDS))
                rounds.append(seen.jobs[name])
                found[name] = juice(job, rounds)
        return found


def juice(job: Job, rounds: deque[JobSeen]) -> float:
    parts: dict[str, float] = {}
    for each in job.topology.operators:
        many = [one.operators[each.name] for one in rounds]
        came, did = sum(one.arrived for one in many), sum(one.executed for one in many)
        done = min(1.0, did / came) if came else 1.0
        if not each.parents:
            parts[each.name] = done
            continue
        parts[each.name] = 0.0
        for it in each.parents:
            sent = sum(one.sent_to[it] for one in many)
            share = sum(one.arrived_of[it] for one in many) / sent if sent else 0.0
            parts[each.name] += parts[it] * share * done
    return sum(parts[it] for it in job.topology.sinks) / len(job.topology.sources)

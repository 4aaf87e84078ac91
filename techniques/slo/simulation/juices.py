"""Juice of simulated jobs, over a sliding minute of rounds, from their operators' counters."""

from collections import deque
from collections.abc import Iterable, Mapping

from techniques.slo.juice import Edge, Graph, Source, juice
from techniques.slo.simulation.cluster import Job, JobSeen, Seen

MINUTE_ROUNDS = 6


class Juices:
    """Mutable: keeps the last minute of each job that has a juice SLO."""

    def __init__(self, jobs: Mapping[str, Job]) -> None:
        self.jobs = {name: job for name, job in jobs.items() if job.objective.juice is not None}
        self._rounds: dict[str, deque[JobSeen]] = {}

    def after(self, seen: Seen) -> Mapping[str, float]:
        found = {}
        for name, job in self.jobs.items():
            if name in seen.jobs:
                rounds = self._rounds.setdefault(name, deque(maxlen=MINUTE_ROUNDS))
                rounds.append(seen.jobs[name])
                found[name] = juice(graph(job, rounds))
        return found


def graph(job: Job, rounds: Iterable[JobSeen]) -> Graph:
    """Returns the counters of some rounds, in whole tuples as a counter has them."""
    sources, edges = [], []
    for each in job.topology.operators:
        many = [one.operators[each.name] for one in rounds]
        came, did = sum(one.arrived for one in many), sum(one.executed for one in many)
        if not each.parents:
            sources.append(Source(each.name, round(came), round(did)))
        for parent in each.parents:
            sent = sum(one.arrived_of[parent] for one in many)
            executed = sent * did / came if came else 0.0
            edges.append(Edge(parent, each.name, round(sent), round(executed)))
    return Graph(tuple(sources), tuple(edges))

"""What a first-come-first-served queue would do with given arrivals and service times, exactly.

A measured mean wait of a busy queue differs from that of theory by chance alone; from what an ideal
queue makes of the very same arrivals it does not.
"""

import heapq

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shared_waits_s(times_s: Floats, service_s: Floats, servers: int) -> Floats:
    """One queue: each goes to the server that is free first."""
    free_s = [0.0] * servers
    waits_s = np.zeros(len(times_s))
    for at, (arrived_s, work_s) in enumerate(zip(times_s, service_s, strict=True)):
        begun_s = max(float(arrived_s), heapq.heappop(free_s))
        heapq.heappush(free_s, begun_s + float(work_s))
        waits_s[at] = begun_s - arrived_s
    return waits_s


def separate_waits_s(times_s: Floats, service_s: Floats, queues: NDArray[np.int64]) -> Floats:
    """A queue per server; `queues` says to which one each arrival is given."""
    waits_s = np.zeros(len(times_s))
    for queue in np.unique(queues):
        own = queues == queue
        waits_s[own] = shared_waits_s(times_s[own], service_s[own], 1)
    return waits_s


def in_turn(dispatchers: NDArray[np.int64], queues: int) -> NDArray[np.int64]:
    """Each dispatcher gives its arrivals to the queues in turn, without regard to the others."""
    given = np.zeros(len(dispatchers), np.int64)
    for dispatcher in np.unique(dispatchers):
        own = np.flatnonzero(dispatchers == dispatcher)
        given[own] = np.arange(len(own)) % queues
    return given

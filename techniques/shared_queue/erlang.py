"""What theory says of one queue for several servers: the M/M/c queue.

Arrivals are Poisson, service times are exponential, c servers draw from one queue. With λ arrivals
per second, a mean service time of s and the offered load a = λ·s, each server is busy for the share
ρ = a / c of the time. In equilibrium k ≤ c servers are busy with a probability proportional to
aᵏ/k!, and each further chunk in the queue makes a state ρ times as likely. A chunk waits if all
servers are busy, whatever waits already: those states sum up to (a^c/c!)·(1 + ρ + ρ² + …). Hence
the probability to wait, Erlang's C:

    C(c, ρ) = (a^c / c!)·1/(1-ρ) / ( Σ_{k<c} aᵏ/k!  +  (a^c / c!)·1/(1-ρ) ),    a = c·ρ

Who waits does so behind a queue that shrinks by c/s and grows by λ, for s / (c·(1-ρ)) on average,
and who does not wait waits 0: the mean time in queue is C(c, ρ)·s / (c·(1-ρ)).

Equation 2 of Du & Gupta (section 3.2) calls C itself the average queueing time, and has (cρ)/c!
where (cρ)^c/c! belongs.

Powers and factorials of many servers are beyond a float. So C is computed from Erlang's B, the
probability that all of c servers are busy where nothing may wait, which grows from c-1 servers to
c by B ← a·B / (c + a·B): all terms are positive and at most 1.
"""

from math import inf, isfinite


def wait_probability(servers: int, utilisation: float) -> float:
    """Returns the share of chunks that find all servers busy: Erlang's C. At a utilisation of 1 and
    above every chunk waits."""
    _check(servers, utilisation)
    if utilisation >= 1:
        return 1.0
    load, blocked = servers * utilisation, 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    return blocked / (1 - utilisation * (1 - blocked))


def mean_wait(servers: int, utilisation: float, service_s: float) -> float:
    """Returns the mean seconds in queue, without the service; infinite from a utilisation of 1."""
    if utilisation >= 1:
        _check(servers, utilisation)
        return inf
    waits = wait_probability(servers, utilisation)
    return waits * service_s / (servers * (1 - utilisation))


def gain(servers: int, utilisation: float) -> float:
    """Returns the mean time in one shared queue by that in separate ones, one for each server.

    Separate queues get equal shares of the arrivals, so each is an M/M/1 queue of the same
    utilisation, with a mean time of ρ·s / (1-ρ): the ratio is C(c, ρ) / (c·ρ). It is between 0 (no
    load) and 1/c (ρ → 1, where it stays)."""
    waits = wait_probability(servers, utilisation)
    if servers == 1:
        return 1.0
    return waits / (servers * min(utilisation, 1.0)) if utilisation > 0 else 0.0


def _check(servers: int, utilisation: float) -> None:
    if servers < 1:
        raise ValueError(f"servers must be at least 1, not {servers}")
    if not (isfinite(utilisation) and utilisation >= 0):
        raise ValueError(f"utilisation must be 0 or more, not {utilisation}")

"""The simulation of Hone, section 4.4 (figures 6 to 8): largest backlog first against round robin.

N queues, Poisson arrivals, time in slots of 100 µs, one tuple leaves per slot. Each slot goes by
equation 1 and Algorithm 1: the scheduler sees the backlogs B_i(t) at its beginning and selects one
queue, then B_i(t+1) = max(B_i(t) + a_i(t) - x_i(t), 0).

Where the paper leaves a choice, this is the reading that gives its figures:

- *Round robin with an empty queue.* "If q_i is selected at slot t, the queue selected at t+1 is
  q_(i+1) mod N": the turn of an empty queue goes unused (`turns`). Only then can tuples wait ten
  times as long under round robin as under largest backlog first at half load.
- *Queueing delay.* From a tuple's arrival, half a slot after the beginning of its slot on average,
  to the beginning of the slot in which it leaves; nothing if it leaves in its own slot. Counted in
  whole slots, the gain at half load would be 85 %, not the paper's 89.8 %.
- *Tuples that are still queued when the simulation ends* have no delay yet and do not count.
- *Jain's index* of queues that are all empty is 1: they are equal.

No system would let an empty queue use up its turn. The round robin that an expert would compare
with skips empty queues (`next_waiting`). As it never idles while something waits, as many tuples
wait in all as under largest backlog first, and so they wait as long on average (but for the few
that leave in the slot of their arrival): only how they spread over the queues differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLOTS = 10_000
SLOT_S = 100e-6
SAMPLED = tuple(range(1_000, SLOTS, 1_000))
RATES_PER_S = tuple(range(500, 5_001, 500))
QUEUES = tuple(range(10, 101, 10))
# Which number of queues the rates are varied at, and which rate the number of queues.
RATE_QUEUES, QUEUES_RATE_PER_S = 10, 1_000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# From the backlogs (runs × queues), the queue of each run that is selected: the scheduler of one
# simulation, which may remember.
Scheduler = Callable[[Ints], Ints]


@dataclass(frozen=True)
class Outcome:
    """What one scheduler did in each of several runs."""

    max_backlog: Ints  # over all queues and slots
    jain: Floats  # runs × sampled slots
    mean_delay_s: Floats  # NaN if no tuple left
    left: Ints  # tuples that were still queued at the end


def largest_backlog() -> Scheduler:
    """Algorithm 1; the first of several equal ones."""
    return lambda backlogs: backlogs.argmax(axis=1)


def turns() -> Scheduler:
    """The paper's RRB: each in turn, empty or not."""
    turn = -1

    def select(backlogs: Ints) -> Ints:
        nonlocal turn
        turn = (turn + 1) % backlogs.shape[1]
        return np.full(len(backlogs), turn)

    return select


def next_waiting() -> Scheduler:
    """The next in turn that has something to send."""
    last: Ints | None = None

    def select(backlogs: Ints) -> Ints:
        nonlocal last
        runs, queues = backlogs.shape
        before = np.full(runs, -1) if last is None else last
        distance = (np.arange(queues) - before[:, None] - 1) % queues
        last = np.where(backlogs > 0, distance, distance + queues).argmin(axis=1)
        return last

    return select


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "largest_backlog": largest_backlog,
    "turns": turns,
    "next_waiting": next_waiting,
}


def arrivals(
    rates_per_s: Sequence[float], queues: int, rng: np.random.Generator, slots: int = SLOTS
) -> NDArray[np.uint8]:
    """Returns how many tuples arrive (slots × runs × queues), one run per rate."""
    means = np.asarray(rates_per_s)[:, None] * SLOT_S
    return rng.poisson(means, (slots, len(rates_per_s), queues)).astype(np.uint8)


def simulate(
    arriving: NDArray[np.uint8], scheduler: Scheduler, sampled: Sequence[int] = SAMPLED
) -> Outcome:
    """Runs all slots of `arriving` (slots × runs × queues)."""
    slots, runs, queues = arriving.shape
    backlogs = np.zeros((runs, queues), dtype=np.int64)
    highest = np.zeros_like(backlogs)
    sent, sent_at, at_once = np.zeros_like(backlogs), np.zeros_like(backlogs), np.zeros(runs)
    jain = np.ones((runs, len(sampled)))
    every = np.arange(runs)
    for slot in range(slots):
        if slot in sampled:
            jain[:, sampled.index(slot)] = jain_index(backlogs)
        chosen = every, scheduler(backlogs)
        was_empty = backlogs[chosen] == 0
        backlogs += arriving[slot]
        leaves = backlogs[chosen] > 0
        backlogs[chosen] -= leaves
        sent[chosen] += leaves
        sent_at[chosen] += leaves * slot
        at_once += leaves & was_empty
        np.maximum(highest, backlogs, out=highest)
    # Queues are first in, first out: as many tuples as have left are the first that arrived.
    waited = sent_at.sum(axis=1) - arrived_at(arriving, sent) - (sent.sum(axis=1) - at_once) / 2
    with np.errstate(invalid="ignore"):
        mean_delay_s = waited / sent.sum(axis=1) * SLOT_S
    return Outcome(highest.max(axis=1), jain, mean_delay_s, backlogs.sum(axis=1))


def arrived_at(arriving: NDArray[np.uint8], first: Ints) -> Ints:
    """Returns, of each run, the sum of the slots in which the first so many (runs × queues) tuples
    of its queues arrived."""
    slots = np.arange(len(arriving))
    found = np.zeros(len(first), dtype=np.int64)
    # A run at a time: the cumulative arrivals of all would take gigabytes.
    for run, most in enumerate(first):
        counted = np.minimum(arriving[:, run].cumsum(axis=0, dtype=np.int64), most)
        found[run] = (np.diff(counted, axis=0, prepend=0) * slots[:, None]).sum()
    return found


def jain_index(backlogs: Ints) -> Floats:
    """Returns F = (ΣB)² / (N·ΣB²) of each run: 1/N if one queue has all, 1 if all are equal."""
    whole = backlogs.sum(axis=1, dtype=np.float64) ** 2
    squares = backlogs.shape[1] * (backlogs.astype(np.float64) ** 2).sum(axis=1)
    index = np.ones(len(backlogs))
    np.divide(whole, squares, out=index, where=squares > 0)
    return index

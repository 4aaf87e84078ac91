"""Queue growth: more arrives than is worked off (λ > capacity), so the backlog only grows.

Held against chance: Mann and Kendall's test for a trend, which counts the pairs of readings that
rise and assumes no distribution of the noise. Readings a second apart count as independent.
"""

import math

import numpy as np

from techniques.detection import chance
from techniques.detection.finding import Finding
from techniques.model import Evidence
from techniques.pool.controllers.loads import Siblings, families
from techniques.pool.policies import number_of
from techniques.view import WINDOW_MS, Reads, View

KIND = "queue_growth"
# Nothing that we have adds capacity, but a queue that a pool's instances share leaves none idle.
TECHNIQUE: str | None = None
IN_POOLS = "shared_queue"
SHARED = number_of("shared-queue")
READS = frozenset((Reads.SERIES, Reads.POOLS))
EVERY = 1_000 // WINDOW_MS
FEWEST = 30
SIGNIFICANT = 1e-4
# The share of pairs that rise less the share that fall (Kendall's τ).
STEADY = 0.8


def find(view: View) -> list[Finding]:
    rows = view.backlog_rows[::EVERY]
    seconds = np.flatnonzero(~np.isnan(rows))
    rows = rows[seconds]
    if len(rows) < FEWEST or rows[-1] <= rows[0]:
        return []
    balance = float(chance.rises(rows))
    count = len(rows)
    pairs = count * (count - 1) / 2
    spread = math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    p_value = math.erfc((balance - 1) / spread / math.sqrt(2)) / 2
    if balance / pairs < STEADY or p_value > SIGNIFICANT:
        return []
    per_s = float(np.polyfit(seconds, rows, 1)[0])
    return [
        Finding(
            kind=KIND,
            title=f"The backlog grows by {per_s:.0f} rows a second",
            spans_ms=((view.at_ms(int(seconds[0]) * EVERY), view.end_ms),),
            p_value=p_value,
            added_ms=0.0,
            explanation=(
                f"More rows arrive than are worked off: the backlog went from {rows[0]:.0f} to "
                f"{rows[-1]:.0f} rows in {seconds[-1] - seconds[0]} s, and every record waits for "
                f"those before it."
            ),
            evidence=(
                Evidence("pairs of readings that rise", f"{(balance / pairs + 1) / 2:.0%}"),
                Evidence("p-value: no trend (Mann–Kendall)", f"{p_value:.2g}"),
            ),
            technique=IN_POOLS if any(_shares(each) for each in families(view)) else TECHNIQUE,
        )
    ]


def _shares(siblings: Siblings) -> bool:
    """Whether there is something to share: several instances with queues of their own."""
    return len(siblings.instances) > 1 and siblings.pool.policy != SHARED

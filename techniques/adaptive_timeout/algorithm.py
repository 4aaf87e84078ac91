"""Algorithm 1 of Du & Gupta: how long to wait for a result before a chunk is sent again."""

from collections.abc import Sequence

# "Very long" in lines 5 and 7 of the algorithm.
LONG = 2


def timeout(latencies: Sequence[float]) -> float | None:
    """Returns the timeout for the next period from the latencies of the last one.

    None if there were none: the first period has no timeout."""
    if not latencies:
        return None
    ranked = sorted(latencies)
    p90, p95, p99, p999 = (percentile(ranked, per_mille) for per_mille in (900, 950, 990, 999))
    if p99 > LONG * p90:
        return p90
    if p999 > LONG * p95:
        return p95
    return p999


def percentile(ranked: Sequence[float], per_mille: int) -> float:
    """The smallest value that at least so many of the ascending values are not above."""
    return ranked[-(-len(ranked) * per_mille // 1000) - 1]

"""Algorithm 1 of Hone: the queue with the largest backlog is the one that may send."""

from collections.abc import Sequence


def largest(backlogs: Sequence[int]) -> int | None:
    """Returns the place of the largest backlog, the first of several; None if all are empty."""
    most = max(backlogs, default=0)
    return backlogs.index(most) if most > 0 else None


def signals(backlogs: Sequence[int]) -> list[int]:
    """Returns 1 for the queue that may send and 0 for the others; if nobody waits, all may."""
    chosen = largest(backlogs)
    return [int(chosen is None or each == chosen) for each in range(len(backlogs))]

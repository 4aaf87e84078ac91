"""Series of 50 ms windows as lines of a figure, a point per second."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from techniques.model import Axis, Series
from techniques.view import WINDOW_MS, Floats, Instance, Pool, View

# The page has so many colours that everybody can tell apart.
MOST_LINES = 7
BEFORE_NOW = Axis("time, 0 is now", "s")
PER_SECOND = 1_000 // WINDOW_MS


def line(view: View, name: str, values: Floats, of_second: Callable[[Floats], Any]) -> Series:
    """`of_second` makes one value of the known values of a second; seconds without any are left
    out. The line ends with the view, so a second may be cut off at its beginning."""
    x: list[float] = []
    y: list[float] = []
    for end in range(len(view) % PER_SECOND or PER_SECOND, len(view) + 1, PER_SECOND):
        known = values[max(0, end - PER_SECOND) : end]
        known = known[~np.isnan(known)]
        if len(known):
            x.append(float((end - len(view)) // PER_SECOND))
            y.append(float(of_second(known)))
    return Series(name, tuple(x), tuple(y))


def of_pool(view: View, pool: Pool) -> str:
    """What tells this pool's lines from those of others; nothing where it is the only one."""
    return "" if len(view.pools) == 1 else f" of {pool.name} on {pool.host}"


def instances(
    view: View, values: Callable[[Instance], Floats], rank: Callable[[Floats], float]
) -> tuple[list[tuple[str, Floats]], int]:
    """The instances to draw, by name, and how many there are with a known value: those with the
    highest rank if there are too many, in the order of the pools."""
    known: Sequence[tuple[str, Floats]] = [
        (f"{each.name}{of_pool(view, pool)}", values(each))
        for pool in view.pools
        for each in pool.instances
        if not np.isnan(values(each)).all()
    ]
    chosen = sorted(range(len(known)), key=lambda at: -rank(known[at][1]))[:MOST_LINES]
    return [known[at] for at in sorted(chosen)], len(known)

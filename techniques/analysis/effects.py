"""A technique's effects over weeks: what each time that it was switched on or off changed.

An hour before and an hour after the switch, in blocks of five minutes, compared as the live page
does (`techniques.effect`). A switch with another within its hour is cut there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from techniques.effect import Ratio, ratio
from techniques.intervals import Floats

LOOKS_MS, BLOCK_MS = 3_600_000, 300_000


@dataclass(frozen=True)
class Switch:
    """A technique was switched to `to` ("off", "advise", "on") at this time."""

    technique: str
    at_ms: int
    to: str


@dataclass(frozen=True)
class Effect:
    """`p99` is after / before; None if one side has no data."""

    switch: Switch
    p99: Ratio | None


def effects(
    start_ms: int, step_ms: int, p99: Floats, switches: Sequence[Switch]
) -> tuple[Effect, ...]:
    """`p99` has one value per step (of a block or less), NaN if not known; oldest switch first."""
    ordered = sorted(switches, key=lambda each: each.at_ms)
    times = [each.at_ms for each in ordered]
    return tuple(
        Effect(
            switch,
            ratio(
                _blocks(start_ms, step_ms, p99, _latest(times, switch.at_ms), switch.at_ms),
                _blocks(start_ms, step_ms, p99, switch.at_ms, _next(times, switch.at_ms)),
            ),
        )
        for switch in ordered
    )


def _latest(times: Sequence[int], at_ms: int) -> int:
    return max((at_ms - LOOKS_MS, *(each for each in times if each < at_ms)))


def _next(times: Sequence[int], at_ms: int) -> int:
    return min((at_ms + LOOKS_MS, *(each for each in times if each > at_ms)))


def _blocks(start_ms: int, step_ms: int, p99: Floats, first_ms: int, after_ms: int) -> list[float]:
    """The median p99 of each block of the range. The step in which the switch fell is left out:
    it belongs to both sides."""
    first = max(0, -(-(first_ms - start_ms) // step_ms))
    after = max(first, (after_ms - start_ms) // step_ms)
    values = p99[first:after]
    size = max(1, BLOCK_MS // step_ms)
    blocks = [values[at : at + size] for at in range(0, len(values), size)]
    return [float(np.nanmedian(each)) for each in blocks if not np.isnan(each).all()]

"""Instances that stand still now and then, as processes do that collect garbage or lose their core.

Pauses are intervals of time, drawn at random per instance: they do not wait for a chunk to come,
and work that a pause falls into goes on after it. All instances of a pool read one small file that
says when a stretch of time began and which draw is its own: so a benchmark gives the same pauses
to each way that it compares. Without the file nobody pauses.

    the file: 2 words of 8 bytes, little-endian
       0  when the stretch began: CLOCK_MONOTONIC, ns
       1  the draw
"""

import os
import struct
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from techniques.pool.plan import INSTANCE_VARIABLE

_STRETCH = struct.Struct("<QQ")
# Longer than any stretch; pauses are drawn for so long in advance.
DRAWN_S = 600.0


class Pause(NamedTuple):
    """Seconds since the stretch began."""

    start_s: float
    stop_s: float


class Stretch(NamedTuple):
    began_ns: int
    draw: int


@dataclass
class Pauses:
    path: str
    # The mean time between two pauses of one instance, and how long they are, evenly spread.
    every_s: float
    least_s: float
    most_s: float
    _drawn: tuple[int, tuple[Pause, ...]] = field(default=(-1, ()), repr=False)

    @property
    def share(self) -> float:
        """The part of its time that an instance stands still."""
        mean_s = (self.least_s + self.most_s) / 2
        return mean_s / (self.every_s + mean_s)

    def begin(self, draw: int) -> None:
        """Begins a stretch of time with pauses of its own; instances follow with the next chunk."""
        written = f"{self.path}.new"
        Path(written).write_bytes(_STRETCH.pack(time.monotonic_ns(), draw))
        os.rename(written, self.path)

    def stop(self) -> None:
        Path(self.path).unlink(missing_ok=True)

    def end_s(self, began_s: float, work_s: float) -> float:
        """When work is done that began then (CLOCK_MONOTONIC), on this instance."""
        stretch = self._stretch()
        if stretch is None:
            return began_s + work_s
        if self._drawn[0] != stretch.draw:
            who = os.environ.get(INSTANCE_VARIABLE, "")
            self._drawn = stretch.draw, self.of(who, stretch.draw)
        since_s = stretch.began_ns / 1e9
        return since_s + done_s(self._drawn[1], began_s - since_s, work_s)

    def of(self, who: str, draw: int) -> tuple[Pause, ...]:
        """Draws the pauses of the instance with this name."""
        numbers = np.random.default_rng((draw, zlib.crc32(who.encode())))
        made: list[Pause] = []
        at_s = 0.0
        while at_s < DRAWN_S:
            start_s = at_s + float(numbers.exponential(self.every_s))
            at_s = start_s + float(numbers.uniform(self.least_s, self.most_s))
            made.append(Pause(start_s, at_s))
        return tuple(made)

    def _stretch(self) -> Stretch | None:
        try:
            return Stretch(*_STRETCH.unpack(Path(self.path).read_bytes()))
        except (FileNotFoundError, struct.error):
            return None


def done_s(pauses: tuple[Pause, ...], begin_s: float, work_s: float) -> float:
    """When work that begins then is done, if it stands still during the pauses (in their order)."""
    end_s = begin_s + work_s
    for pause in pauses:
        if pause.stop_s <= begin_s:
            continue
        if pause.start_s >= end_s:
            break
        end_s += pause.stop_s - max(pause.start_s, begin_s)
    return end_s

"""Whether latency is higher after some checkpoints of a stage than after the others.

What a compaction does to latency comes in steps on Spark: it takes the CPU from whatever runs at
its checkpoint, the commit of the next one uploads all that it wrote, and who came meanwhile waits
for the one after that. So these are tried, alone and together; and each over all that is known and
over the latest alone, for a job that has just started is noisy. The best is paid for with as many
times its chance.

Ranks need five occurrences to be sure. Where the occurrences are far above all others, the distance
says it with three.

Other things come in turns too: a trigger of 2.5 s on a source of whole seconds has more to do in
every second batch. So those that compact must also be higher than each other flush of their cycle.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from techniques.detection import chance, latency
from techniques.detection.checkpoints import Stage, spans
from techniques.intervals import Ints
from techniques.model import Evidence
from techniques.view import Floats, View

Mask = NDArray[np.bool_]

# Which checkpoints from the one that compacts.
REACHES = ((0,), (1,), (0, 1), (1, 2))
WORDS = {
    (0,): "at that checkpoint",
    (1,): "at the one after it, whose commit uploads what was compacted",
    (0, 1): "at that checkpoint and the one after it, whose commit uploads what was compacted",
    (1, 2): "at the one after it, whose commit uploads what was compacted, and at the next, whose "
    "records waited for it",
}
# A rise that few would notice is nobody's incident, however sure it is.
LOUD = 1.2
SIGNIFICANT = 1e-3
FEWEST_OTHERS = 5
FEWEST_OF_A_TURN = 4
PLAUSIBLE = 0.05
# Each checkpoint is compared with those around it: jobs warm up, loads come and go.
AROUND = 6
# Beside all checkpoints.
LATEST = 20
# So far above all others that their spread, rather than their ranks, says how sure it is.
FAR = 1.25
FEWEST_FAR = 3


@dataclass(frozen=True)
class Aftermath:
    """Medians of the highest p99 after each checkpoint, those marked against the others."""

    added_ms: float
    ratio: float
    p_value: float
    words: str

    @property
    def evidence(self) -> tuple[Evidence, Evidence]:
        peaks = f"{self.ratio:.2f} × the usual, {self.added_ms:.0f} ms more"
        return (
            Evidence("p99 at its peaks", peaks),
            Evidence("p-value: p99 as high at other checkpoints (rank sum)", f"{self.p_value:.2g}"),
        )


def aftermath(view: View, stage: Stage, marked: Collection[int]) -> Aftermath | None:
    """None where too little is known, or where the others are as high."""
    peaks = latency.peaks(view, spans(view, stage))
    # Before the first, the state of a job that starts has not its size yet, nor its code its pace.
    known = np.flatnonzero(peaks > 0)
    known = known[known >= min(marked, default=0)]
    if len(known) <= FEWEST_OTHERS:
        return None
    relative = peaks[known] / _around(peaks[known])
    turns = known % (stage.period or 1)
    lasts = (0, -LATEST) if len(known) > LATEST else (0,)
    tried = [
        _compared(relative[last:], peaks[known][last:], is_marked[last:], turns[last:], reach)
        for reach in REACHES
        for is_marked in [np.isin(known, _reached(marked, reach))]
        for last in lasts
    ]
    found = [each for each in tried if each and each.ratio >= LOUD]
    if not found:
        return None
    best = min(found, key=lambda each: each.p_value)
    p_value = min(1.0, best.p_value * len(tried))
    return replace(best, p_value=p_value) if p_value <= SIGNIFICANT else None


def _reached(marked: Collection[int], reach: tuple[int, ...]) -> list[int]:
    return sorted({number + step for number in marked for step in reach})


def _around(peaks: Floats) -> Floats:
    """The median of each value and its neighbours."""
    padded = np.pad(peaks, AROUND, mode="reflect" if len(peaks) > AROUND else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1)
    medians: Floats = np.median(windows, axis=1)
    return medians


def _compared(
    relative: Floats, peaks: Floats, is_marked: Mask, turns: Ints, reach: tuple[int, ...]
) -> Aftermath | None:
    these, others = relative[is_marked], relative[~is_marked]
    if len(these) < 2 or len(others) < FEWEST_OTHERS:
        return None
    if not all(
        _is_higher(these, relative[~is_marked & (turns == turn)]) for turn in np.unique(turns)
    ):
        return None
    usual_ms = float(np.median(peaks[~is_marked]))
    ratio = float(np.median(these) / np.median(others))
    p_value = chance.rank_sum(these, others)
    if len(these) >= FEWEST_FAR and these.min() > others.max() and ratio >= FAR:
        p_value = min(p_value, chance.as_far(np.log(these), np.log(others)))
    return Aftermath((ratio - 1) * usual_ms, ratio, p_value, WORDS[reach])


def _is_higher(these: Floats, turn: Floats) -> bool:
    # Few of a turn are those that a cycle which slipped by one has left there.
    return len(turn) < FEWEST_OF_A_TURN or chance.rank_sum(these, turn) <= PLAUSIBLE

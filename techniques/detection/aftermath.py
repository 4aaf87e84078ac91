"""Whether latency is higher after some checkpoints of a stage than after the others.

On Spark a compaction raises latency in steps: it takes CPU from the tasks of its own checkpoint,
the commit of the next checkpoint uploads all that it wrote, and records that arrive meanwhile wait
for the checkpoint after that. So each of these checkpoints is tested, alone and together, over all
checkpoints and over the latest alone, as a job that has just started is noisy. The smallest p-value
is multiplied by the number of tests (Bonferroni).

The rank-sum test needs five occurrences to be significant. Where all occurrences are far above all
others, Student's t on their distance needs three.

Other causes are periodic too: a trigger of 2.5 s on a source of whole seconds has more to do in
every second batch. So checkpoints that compact must also be higher than each other position of
their compaction cycle.
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

# The checkpoints that are tested, counted from the one that compacts.
REACHES = ((0,), (1,), (0, 1), (1, 2))
WORDS = {
    (0,): "at that checkpoint",
    (1,): "at the next checkpoint, whose commit uploads the compacted files",
    (0, 1): "at that checkpoint and at the next, whose commit uploads the compacted files",
    (1, 2): "at the next checkpoint, whose commit uploads the compacted files, and at the one "
    "after it, whose records waited for that commit",
}
# A smaller rise is no incident, however significant it is.
LOUD = 1.2
SIGNIFICANT = 1e-3
FEWEST_OTHERS = 5
FEWEST_OF_A_TURN = 4
PLAUSIBLE = 0.05
# Each checkpoint is compared with those around it: jobs warm up, loads come and go.
AROUND = 6
# The number of latest checkpoints that are also tested on their own.
LATEST = 20
# From this ratio on, if all are above all others, Student's t is used beside the rank sum.
FAR = 1.25
FEWEST_FAR = 3


@dataclass(frozen=True)
class Aftermath:
    """Compares the highest p99 after marked checkpoints with that after the others (medians)."""

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
    """Returns None if too little is known, or if the other checkpoints are as high."""
    peaks = latency.peaks(view, spans(view, stage))
    # Before the first marked one, a starting job's state is still small and its JIT not yet warm.
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
    """Returns the running median over each value and its `AROUND` neighbours on either side."""
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
    # Too few to test: they got to this position when the cycle slipped by one checkpoint.
    return len(turn) < FEWEST_OF_A_TURN or chance.rank_sum(these, turn) <= PLAUSIBLE

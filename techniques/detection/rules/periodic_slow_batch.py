"""Periodic slow batch: every n-th micro-batch is slower than the others, as when a file sink
compacts its log every tenth.

Held against chance by a permutation test: batches are shuffled and the search for the best n is
repeated on them. A search over many n finds something in noise too, so its best score, not that of
one fixed n, is compared.
"""

import re

import numpy as np
from numpy.typing import NDArray

from techniques.detection.finding import Finding
from techniques.detection.ordinals import nth
from techniques.model import Evidence
from techniques.view import Floats, Reads, View

KIND = "periodic_slow_batch"
TECHNIQUE: str | None = None
READS = frozenset((Reads.INTERVALS,))
PERIODS = range(2, 21)
FEWEST_SLOW = 3
SLOWER = 1.5
SHUFFLES = 499
SIGNIFICANT = 0.005

_NUMBER = re.compile(r"\d+")


def find(view: View) -> list[Finding]:
    batches = view.of("batch")
    found = [_NUMBER.search(name) for name in batches.name.tolist()]
    batches = batches[np.array([number is not None for number in found], dtype=bool)]
    if len(batches) < PERIODS[0] * FEWEST_SLOW * 2:
        return []
    numbers = np.array([int(number[0]) for number in found if number])
    durations = batches.duration_ms
    # Logarithms: twice as slow and twice as fast are equally far from the median.
    logs = np.log(np.maximum(durations, 1.0))
    search = _Search(numbers)
    if not search:
        return []
    [score], [at] = search.best(logs[None, :])
    period, phase = search.choice(int(at))
    slow = numbers % period == phase
    ratio = float(np.median(durations[slow]) / np.median(durations[~slow]))
    if ratio < SLOWER:
        return []
    shuffled = np.random.default_rng(0).permuted(np.tile(logs, (SHUFFLES, 1)), axis=1)
    beaten = np.count_nonzero(search.best(shuffled)[0] >= score)
    p_value = (beaten + 1) / (SHUFFLES + 1)
    if p_value > SIGNIFICANT:
        return []
    added_ms = float(np.median(durations[slow]) - np.median(durations[~slow]))
    spans = [(round(batch.start_ms), round(batch.end_ms)) for batch in batches[slow]]
    starts = [start for start, _ in spans]
    return [
        Finding(
            kind=KIND,
            title=f"Every {nth(period)} batch takes {ratio:.1f} times as long",
            spans_ms=tuple(spans),
            p_value=p_value,
            added_ms=added_ms,
            explanation=(
                f"The {len(spans)} micro-batches whose number leaves {phase} when divided by "
                f"{period} took {ratio:.1f} times as long as the others (medians). A file sink "
                f"that compacts its log does that every tenth batch."
            ),
            evidence=(
                Evidence("slow batches", str(len(spans))),
                Evidence("median against the others", f"{ratio:.2f} ×"),
                Evidence(
                    "p-value: shuffled batches would look like this (permutation test)",
                    f"{p_value:.2g}",
                ),
            ),
            period_ms=float(np.median(np.diff(starts))),
        )
    ]


class _Search:
    """Finds the n and phase whose batches differ most from the others, in standard errors."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        choices = np.array([(period, phase) for period in PERIODS for phase in range(period)])
        members = np.concatenate(
            [numbers % period == np.arange(period)[:, None] for period in PERIODS]
        )
        sizes = np.count_nonzero(members, axis=1)
        usable = (sizes >= FEWEST_SLOW) & (sizes < len(numbers))
        self._choices = choices[usable]
        self._members = members[usable].astype(np.float64)
        self._sizes = sizes[usable]
        self._rest = len(numbers) - self._sizes

    def best(self, logs: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """For each row of values, the highest score and the index of its choice."""
        sums = logs @ self._members.T
        others = (logs.sum(axis=1, keepdims=True) - sums) / self._rest
        errors = logs.std(axis=1, keepdims=True) * np.sqrt(1 / self._sizes + 1 / self._rest)
        scores = (sums / self._sizes - others) / np.maximum(errors, 1e-9)
        return scores.max(axis=1), scores.argmax(axis=1)

    def __bool__(self) -> bool:
        return bool(len(self._choices))

    def choice(self, at: int) -> tuple[int, int]:
        period, phase = self._choices[at].tolist()
        return period, phase

"""λ, Δt and C of a job, from its windows."""

import numpy as np

from techniques.detection.checkpoints import Stage
from techniques.shadowsync.algorithm import Load
from techniques.view import WINDOW_MS, View

# Over a shorter time, rates are too noisy.
SHORTEST_MS = 10_000


def load(view: View, stage: Stage) -> Load | None:
    """Returns None while too little is known.

    On Spark the capability C is records per second of running micro-batches: between them the job
    waits for its trigger.
    """
    seconds = len(view) * WINDOW_MS / 1000
    batches = view.of("batch")
    busy_s = float(batches.duration_ms.sum()) / 1000 if len(batches) else 0.0
    records = float(np.nansum(view.records))
    if len(view) * WINDOW_MS < SHORTEST_MS or records <= 0 or busy_s <= 0:
        return None
    if stage.step_ms is None or not len(stage.compactions):
        return None
    return Load(
        rate_per_s=records / seconds,
        flush_ms=_flush_ms(stage),
        capacity_per_s=records / busy_s,
        interval_ms=stage.step_ms,
        compaction_ms=float(np.median(stage.compactions.duration_ms)),
    )


def _flush_ms(stage: Stage) -> float:
    """The median time from the first flush of a checkpoint to the end of its last."""
    ends_ms = np.maximum.reduceat(stage.flushes.end_ms, stage.flushes_from)
    return float(np.median(ends_ms - stage.starts_ms))

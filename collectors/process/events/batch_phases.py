"""A micro-batch as intervals: the trigger as a whole and what it spent its time on.

Spark reports how long each phase took, not when it began. So the phases are laid end to end from
the batch's start, in the order in which `MicroBatchExecution` goes through them. What Spark did
between them (and the part of a millisecond that each loses) is in no phase: a phase begins no
earlier than drawn, and later by at most the trigger's duration less all phases.
"""

from collectors.formats.activity import Activity, Kind
from collectors.formats.wire import PHASES, Batch

# Not the order of PHASES: the offsets are on disk before the batch is made.
IN_SPARKS_ORDER = (
    "latestOffset",
    "walCommit",
    "getBatch",
    "queryPlanning",
    "addBatch",
    "commitOffsets",
)


def phases(batch: Batch) -> tuple[Activity, ...]:
    """Returns the whole trigger, then each phase of 1 ms or more; none ends after the trigger."""
    start_us, end_us = batch.start_ms * 1000, batch.end_ms * 1000
    name = f"batch {batch.batch_id}"
    found = [Activity(Kind.BATCH, start_us, end_us, name=name)]
    durations_ms = dict(zip(PHASES, batch.phases_ms, strict=True))
    at_us = start_us
    for phase in IN_SPARKS_ORDER:
        until_us = min(end_us, at_us + durations_ms[phase] * 1000)
        if until_us > at_us:
            found.append(Activity(Kind.PHASE, at_us, until_us, name=phase, reason=name))
        at_us = until_us
    return tuple(found)

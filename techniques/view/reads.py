"""What a rule or a controller reads of a view: only that is decoded and kept.

A rule or controller module declares it as `READS: frozenset[Reads]`; the default is `BASIC`. Parts
that no module reads are empty in the view.
"""

from enum import StrEnum


class Reads(StrEnum):
    # Latency, records, backlog and waiting tasks.
    SERIES = "series"
    # `View.use` and `View.cores`.
    RESOURCES = "resources"
    # `View.intervals`.
    INTERVALS = "intervals"
    # `View.tasks`: stage, attempt, locality … of each task.
    TASKS = "tasks"
    # `View.pools` and `View.queues`.
    POOLS = "pools"
    # `View.traffic`.
    TRAFFIC = "traffic"
    # `View.executors`.
    EXECUTORS = "executors"
    # `View.heavy_keys`.
    HEAVY_KEYS = "heavy keys"


BASIC = frozenset((Reads.SERIES, Reads.RESOURCES, Reads.INTERVALS))
EVERYTHING = frozenset(Reads)

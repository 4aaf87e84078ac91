from collections.abc import Sequence

from techniques.orders import COMPACTION, EXECUTORS, STATE_STORES, JobFacts, Order, Refused
from techniques.schema import Settings
from techniques.shadowsync.algorithm import THRESHOLD

# The values with which each part changes nothing. `base` and `in_step` are not on the card: they
# are for benchmarks, where stores have to be in phase at a chosen threshold.
NOTHING: Settings = {
    "spread": 1,
    "delay_ms": 0,
    "base": 0,
    "in_step": False,
    "flush_on_all_cores": False,
    "compaction_threads": 0,
    "snapshots": False,
}


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    lowest = settings.get("lowest", THRESHOLD) if settings.get("thresholds") else THRESHOLD
    values = {
        **NOTHING,
        **{name: settings[name] for name in NOTHING if name in settings},
        # A spread of one file leaves the threshold unchanged.
        "spread": settings.get("spread", 4) if settings.get("thresholds") else 1,
        # 0 keeps the threshold with which Spark opened the store.
        "base": settings.get("base") or (lowest if lowest != THRESHOLD else 0),
        "flush_on_all_cores": bool(settings.get("threads")),
    }
    if values == NOTHING:
        raise Refused("none of its parts is switched on, or none applies to what was found")
    claimed = {**values, "seed": settings.get("seed", 0)}
    return (Order(STATE_STORES, EXECUTORS, claimed, (COMPACTION,)),)

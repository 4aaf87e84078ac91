from collections.abc import Sequence

from techniques.model import Order, Refused, Settings, Where
from techniques.shadowsync.algorithm import THRESHOLD

LEVER = "state-stores"


def orders(settings: Settings) -> Sequence[Order]:
    lowest = int(settings.get("lowest", THRESHOLD)) if settings.get("thresholds") else THRESHOLD
    values = {
        "seed": int(settings.get("seed", 0)),
        # A spread of one file is the threshold as it is.
        "spread": int(settings.get("spread", 4)) if settings.get("thresholds") else 1,
        "delay_ms": int(settings.get("delay_ms", 0)),
        # 0 is what Spark opened the store with. Given as such, and in step, for measuring only.
        "base": int(settings.get("base", 0)) or (lowest if lowest != THRESHOLD else 0),
        "in_step": bool(settings.get("in_step")),
        "flush_on_all_cores": bool(settings.get("threads")),
        "compaction_threads": int(settings.get("compaction_threads", 0)),
        "snapshots": bool(settings.get("snapshots")),
    }
    nothing = {
        "spread": 1,
        "delay_ms": 0,
        "base": 0,
        "in_step": False,
        "flush_on_all_cores": False,
        "compaction_threads": 0,
        "snapshots": False,
    }
    if all(values[name] == value for name, value in nothing.items()):
        raise Refused("none of its parts is switched on, or none applies to what was found")
    return (Order(LEVER, Where.EXECUTORS, values),)

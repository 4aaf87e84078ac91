"""One rule per file: arrays of windows in, frozen findings out, pure.

Each module has `KIND` and `find(view)`, which tells everything of its kind in the view, whether
that is the last two minutes or an hour.
"""

from collections.abc import Callable, Mapping

from techniques.detection.explained import unexplained
from techniques.detection.finding import Finding
from techniques.detection.rules import (
    backlog_imbalance,
    gc_shadow,
    millibottleneck,
    periodic_slow_batch,
    queue_growth,
    scheduled_shadowsync,
    statistical_shadowsync,
    straggler,
)
from techniques.view import View

RULES: Mapping[str, Callable[[View], list[Finding]]] = {
    rule.KIND: rule.find
    for rule in (
        millibottleneck,
        scheduled_shadowsync,
        statistical_shadowsync,
        gc_shadow,
        straggler,
        backlog_imbalance,
        queue_growth,
        periodic_slow_batch,
    )
}

__all__ = ["RULES", "Finding", "find_all"]


def find_all(view: View) -> list[Finding]:
    return unexplained([finding for find in RULES.values() for finding in find(view)])

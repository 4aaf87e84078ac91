"""One rule per file: arrays of windows in, frozen findings out, pure.

Each module has

    KIND         the name of what it finds, as incidents have it
    TECHNIQUE    the technique that it recommends, None where nothing that we have helps
    READS        what it reads of a view (`techniques.view.reads`)
    find(view)   returns every finding of its kind in the view, two minutes or an hour long
"""

from collections.abc import Mapping
from typing import Protocol

from techniques.detection.explained import unexplained
from techniques.detection.finding import Finding
from techniques.detection.rules import (
    backlog_imbalance,
    gc_shadow,
    millibottleneck,
    periodic_slow_batch,
    queue_growth,
    scheduled_shadowsync,
    skewed_partition,
    statistical_shadowsync,
    straggler,
)
from techniques.view import Reads, View


class Rule(Protocol):
    @property
    def KIND(self) -> str: ...
    @property
    def TECHNIQUE(self) -> str | None: ...
    @property
    def READS(self) -> frozenset[Reads]: ...
    def find(self, view: View) -> list[Finding]: ...


_RULES: tuple[Rule, ...] = (
    millibottleneck,
    scheduled_shadowsync,
    statistical_shadowsync,
    gc_shadow,
    straggler,
    skewed_partition,
    backlog_imbalance,
    queue_growth,
    periodic_slow_batch,
)
RULES: Mapping[str, Rule] = {rule.KIND: rule for rule in _RULES}

__all__ = ["RULES", "Finding", "Rule", "find_all"]


def find_all(view: View) -> list[Finding]:
    return unexplained([finding for rule in RULES.values() for finding in rule.find(view)])

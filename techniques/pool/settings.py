"""The numbers that steer a running pool beside its policy, each a word of the page.

A setting's place in `SETTINGS` is its place in the page, so one is only ever added at the end.
`PoolWish.scala` has the same names, places and bounds; a test compares the two.
"""

from enum import IntEnum
from typing import NamedTuple


class Setting(NamedTuple):
    name: str
    default: int
    low: int
    high: int


class Replay(IntEnum):
    """Which chunks a task sends a second time."""

    OFF = 0
    ADAPTIVE = 1  # those older than the timeout of Du & Gupta's Algorithm 1
    HEDGE = 2  # those older than the last period's p95
    BLIND = 3  # the budget's share of all, at once


SETTINGS = (
    Setting("replay", Replay.OFF, Replay.OFF, Replay.BLIND),
    Setting("replay_budget", 500, 0, 10_000),  # in 1/100 % of chunks
    Setting("replay_period_ms", 1_000, 100, 60_000),
    Setting("balance_period_ms", 5_000, 100, 600_000),
    Setting("balance_alpha", 500, 1, 1_000),  # in 1/1000
    Setting("balance_threshold", 1_200, 1_000, 10_000),  # in 1/1000
    Setting("balance_unit", 100, 1, 1_000),  # in 1/100 % of a dispatcher's traffic
    Setting("tau_ms", 0, 0, 10_000),  # between two looks at backlogs; 0 = whoever can sends
)
NAMES = tuple(setting.name for setting in SETTINGS)
REPLAY, REPLAY_BUDGET, REPLAY_PERIOD_MS = range(3)
BALANCE_PERIOD_MS, BALANCE_ALPHA, BALANCE_THRESHOLD, BALANCE_UNIT, TAU_MS = range(3, 8)


def checked(name: str, value: int) -> int:
    """Returns the setting's place in the page."""
    if name not in NAMES:
        raise ValueError(f"a pool has no setting {name!r}; there are {', '.join(NAMES)}")
    at = NAMES.index(name)
    low, high = SETTINGS[at].low, SETTINGS[at].high
    if not low <= value <= high:
        raise ValueError(f"{name} must be between {low} and {high}, not {value}")
    return at

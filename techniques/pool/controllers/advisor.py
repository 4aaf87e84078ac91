"""What measured best for pools in some condition, whatever the papers say of it.

`MEASURED` is all that there is to say, in one place: for each condition the p99 of every arm of the
benchmark, as a ratio to the pool's own round robin, with its interval. Where nothing is
measured, or intervals overlap, nothing is recommended, and the card stands as the paper has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from techniques.model import Advice, Options


class Condition(StrEnum):
    """What a pool suffers from, by the technique that a paper has for it."""

    TAIL = "pools with a long tail at low load"
    QUEUES = "pools with full queues"
    UNEVEN = "pools with a slow instance"
    BACKLOGS = "pools with uneven outgoing backlogs"


@dataclass(frozen=True)
class Arm:
    """A technique with the options that differ from its defaults, and what it did to p99.
    `price` is what it costs, in words; `command` measures it again."""

    technique: str
    title: str
    ratio: float
    low: float
    high: float
    command: str
    price: str
    options: Options = field(default_factory=dict)


Table = Mapping[Condition, Sequence[Arm]]

_BALANCING = "./curtail bench load-balancing, scenario c"
_QUEUES = "a look at each instance's queue for every chunk"
MEASURED: Table = {
    Condition.UNEVEN: (
        Arm("latency_balancing", "latency weights", 0.42, 0.21, 0.81, _BALANCING, "none"),
        Arm(
            "latency_balancing",
            "power of two choices",
            0.47,
            0.23,
            0.94,
            _BALANCING,
            _QUEUES,
            {"by": "power-of-two"},
        ),
        Arm(
            "latency_balancing",
            "the shortest queue",
            0.42,
            0.22,
            0.83,
            _BALANCING,
            _QUEUES,
            {"by": "fewest-queued"},
        ),
    ),
}


def better(technique: str, condition: Condition, measured: Table = MEASURED) -> Advice | None:
    """What helped more in this condition than the technique with its defaults does.

    None unless the intervals are apart: a ratio that may be chance is no reason to contradict."""
    arms = measured.get(condition, ())
    own = next((arm for arm in arms if arm.technique == technique and not arm.options), None)
    if own is None:
        return None
    best = min(arms, key=lambda arm: arm.ratio)
    if best.high >= own.low:
        return None
    chosen = ", ".join(f"{name} = {value}" for name, value in best.options.items())
    return Advice(
        title=best.title,
        why=(
            f"For {condition} it measured p99 {_said(best)} of round robin, "
            f"{own.title} {_said(own)} ({best.command})."
        ),
        line=f"{best.technique}: act" + (f", {chosen}" if chosen else ""),
        price=best.price,
        needs_restart=False,
    )


def _said(arm: Arm) -> str:
    return f"× {arm.ratio:.2f} ({arm.low:.2f} to {arm.high:.2f})"

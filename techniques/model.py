"""Frozen values that techniques share with whoever runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Scalar = bool | int | float | str
Settings = Mapping[str, Scalar]


class Mode(StrEnum):
    """What an operator asks of a technique for one job."""

    OFF = "off"
    ADVISE = "advise"  # decide and show, do not act
    ACT = "act"


class OptionKind(StrEnum):
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    CHOICE = "choice"


@dataclass(frozen=True)
class Option:
    """One thing an operator may set. Bounds are inclusive."""

    name: str
    title: str
    kind: OptionKind
    default: Scalar
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Technique:
    """What a card says, and for how long a decision holds when nobody renews it."""

    name: str
    title: str
    sentence: str
    needs: str = ""
    options: tuple[Option, ...] = ()
    lease_ms: int = 15_000


@dataclass(frozen=True)
class Advice:
    """What somebody who knows Spark would do first, outside of any technique. `line` is what to
    copy, `price` what it costs, in words that follow "The price:"."""

    title: str
    why: str
    line: str
    price: str


@dataclass(frozen=True)
class Conditions:
    """Whether a technique can help this job now; `hold` is None where too little is known.
    `first` is what would help more than the technique does."""

    hold: bool | None
    why: str
    first: Advice | None = None


@dataclass(frozen=True)
class Evidence:
    """A fact behind a decision, as a person reads it: `name` and a value with its unit."""

    name: str
    value: str


@dataclass(frozen=True)
class Decision:
    """`memory` is what the controller wants to find again in `Past` the next time: plain data, as
    JSON has it. It is not sent to the job."""

    settings: Settings
    reason: str
    evidence: tuple[Evidence, ...] = field(default=())
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Past:
    """What a controller knows beside the windows. Whatever was before the operator's last change is
    not part of it: that was decided on other terms."""

    mode: Mode = Mode.ADVISE
    run: str = ""  # of the job; another one after a restart
    decision: Decision | None = None
    refused: str = ""  # why the job does not hold that decision


class FigureKind(StrEnum):
    POINTS = "points"


@dataclass(frozen=True)
class Axis:
    """`unit` is "ms" for durations, which are then written as people read them."""

    label: str
    unit: str = ""


@dataclass(frozen=True)
class Dot:
    """`weight` is how much stands behind it, and how large it is drawn; `says` is all of it in
    words."""

    x: float
    y: float
    weight: float
    says: str


@dataclass(frozen=True)
class Mark:
    x: float
    label: str


@dataclass(frozen=True)
class Figure:
    """What a card draws: points over two axes, one place on the first of them marked. `weighs`
    names what a larger point has more of. `note` is what the figure shows in words, and all there
    is while there are no points."""

    kind: FigureKind
    title: str
    x: Axis
    y: Axis
    points: tuple[Dot, ...] = ()
    weighs: str = ""
    mark: Mark | None = None
    note: str = ""


class Where(StrEnum):
    DRIVER = "driver"
    EXECUTORS = "executors"


@dataclass(frozen=True)
class Order:
    """What a lever of the probe is to hold: data, never code."""

    lever: str
    where: Where
    values: Settings


class Refused(Exception):
    """A realizer cannot turn these settings into orders; the message says why."""

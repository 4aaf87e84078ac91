"""Frozen values that techniques share with whoever runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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
class Conditions:
    """Whether a technique can help this job now; `hold` is None where too little is known."""

    hold: bool | None
    why: str


@dataclass(frozen=True)
class Evidence:
    """A fact behind a decision, as a person reads it: `name` and a value with its unit."""

    name: str
    value: str


@dataclass(frozen=True)
class Decision:
    settings: Settings
    reason: str
    evidence: tuple[Evidence, ...] = field(default=())


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

"""Frozen values that techniques share with the programs that run them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from techniques.schema import Fields, Settings

Scalar = bool | int | float | str
Options = Mapping[str, Scalar]

NO_SETTINGS = Fields()


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


class Scope(StrEnum):
    """Whose windows a controller sees: one job's, or those of all jobs with one label."""

    JOB = "job"
    CLUSTER = "cluster"


@dataclass(frozen=True)
class Technique:
    """The texts of its card, the schema of its settings, and the lease of a decision: how long it
    holds when nothing renews it."""

    name: str
    title: str
    sentence: str
    needs: str = ""
    options: tuple[Option, ...] = ()
    settings: Fields = NO_SETTINGS
    lease_ms: int = 15_000
    scope: Scope = Scope.JOB


@dataclass(frozen=True)
class Advice:
    """What an expert would do before using a technique. `line` is what to copy, `price` what it
    costs, in words that follow "The price:"."""

    title: str
    why: str
    line: str
    price: str
    needs_restart: bool = True


@dataclass(frozen=True)
class Conditions:
    """Whether a technique can help this job now; `hold` is None where too little is known.
    `first` is what would help as much as the technique does, or more."""

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
    """`memory` is what the controller gets back in `Past` the next time: plain data that JSON can
    hold. It is not sent to the job."""

    settings: Settings
    reason: str
    evidence: tuple[Evidence, ...] = field(default=())
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Past:
    """What a controller knows beside the windows. Decisions from before the operator's last change
    are not part of it: they were made under other options."""

    mode: Mode = Mode.ADVISE
    run: str = ""  # the id of the job's run, a new one after a restart
    decision: Decision | None = None
    refused: str = ""  # why the job does not hold that decision


class FigureKind(StrEnum):
    """Which field of a figure is drawn: `points`, `series`, `bars` or `grid`."""

    POINTS = "points"
    LINES = "lines"
    BARS = "bars"
    GRID = "grid"


@dataclass(frozen=True)
class Axis:
    """`unit` is "ms" for durations, which are then written as people read them."""

    label: str
    unit: str = ""


@dataclass(frozen=True)
class Dot:
    """`weight` is the amount of data behind the point, and sets its size; `says` is the text of its
    tooltip."""

    x: float
    y: float
    weight: float
    says: str


@dataclass(frozen=True)
class Mark:
    x: float
    label: str


@dataclass(frozen=True)
class Series:
    """A line of a figure, from left to right."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Bar:
    """`says` is the text of its tooltip."""

    label: str
    value: float
    says: str


@dataclass(frozen=True)
class Cell:
    """`value` sets the colour, `size` (0 to 1) the area; `says` is the text of its tooltip."""

    row: int
    column: int
    value: float
    size: float
    says: str


@dataclass(frozen=True)
class Shift:
    """What is in a column went from one row to another; `says` is the text of its tooltip. The
    longer ago, the fainter it is drawn."""

    column: int
    from_row: int
    to_row: int
    says: str
    ago_s: float = 0.0


@dataclass(frozen=True)
class Grid:
    """Rows and columns by their labels, cells where there is something, and what moved lately.
    `sizes` names what the areas stand for, empty if they are all the same."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    shifts: tuple[Shift, ...] = ()
    sizes: str = ""


@dataclass(frozen=True)
class Figure:
    """What a card draws, by its kind: points or lines over two axes, with one value of x marked;
    bars, whose labels `x` names and whose lengths `y` measures; or a grid, whose columns `x` names
    and whose colours `y` measures. `weighs` names
    what the points' weights count. `note` says in words what the figure shows; it is all that is
    shown while there is nothing to draw."""

    kind: FigureKind
    title: str
    x: Axis
    y: Axis
    points: tuple[Dot, ...] = ()
    weighs: str = ""
    mark: Mark | None = None
    note: str = ""
    series: tuple[Series, ...] = ()
    bars: tuple[Bar, ...] = ()
    grid: Grid | None = None

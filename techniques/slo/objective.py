"""What a job is to reach (its SLO), and what reaching a part of it is worth: Henge, section 4.

An objective has a latency target, a juice target or both, and a priority. The *utility* of a job is
its priority times a share from 0 to 1 that a utility function reads off the measured value:

    knee     min(1, threshold / latency) and min(1, juice / threshold): equations (2) and (1)
    linear   latency: 1 up to the threshold, then straight down to 0 at twice the threshold;
             juice: straight from 0 to the threshold, the same as its knee
    step     1 where the threshold is met, else 0
    points   straight lines between points that the user gives, level before the first and after
             the last

All of them are monotonic: more latency is never worth more, more juice never less. With both
targets the utility is the mean of both. A value that is not measured (None or NaN) has no utility.

Nothing of techniques is imported here: views carry objectives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import isnan
from typing import TypeGuard, TypeVar

Point = tuple[float, float]
Word = TypeVar("Word", bound=StrEnum)

LONGEST_MS = 3_600_000.0
LOWEST_PRIORITY, HIGHEST_PRIORITY = 0.1, 1_000.0
FEWEST_POINTS, MOST_POINTS = 2, 32
FARTHEST = 1e12


class Statistic(StrEnum):
    MEAN = "mean"
    P95 = "p95"
    P99 = "p99"
    P999 = "p999"


class Of(StrEnum):
    """Which latency: until a record was processed, or until its batch was committed."""

    PROCESSED = "processed"
    COMMITTED = "committed"


class Shape(StrEnum):
    KNEE = "knee"
    LINEAR = "linear"
    STEP = "step"
    POINTS = "points"


class Invalid(ValueError):
    """`field` names what is wrong, with dots: "latency.utility.points"."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Utility:
    """`points` are (value, share): ms or juice, and a share from 0 to 1; only for that shape."""

    shape: Shape = Shape.KNEE
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class LatencyTarget:
    """At most `threshold_ms`."""

    threshold_ms: float
    statistic: Statistic = Statistic.P99
    of: Of = Of.COMMITTED
    utility: Utility = Utility()

    def __post_init__(self) -> None:
        _within(self.threshold_ms, "latency.threshold_ms", LONGEST_MS, "ms")
        _check_points(self.utility, "latency.utility.points", LONGEST_MS, rising=False)

    def met(self, latency_ms: float) -> bool:
        return latency_ms <= self.threshold_ms

    def share(self, latency_ms: float) -> float:
        match self.utility.shape:
            case Shape.POINTS:
                return _between(self.utility.points, latency_ms)
            case _ if self.met(latency_ms):
                return 1.0
            case Shape.KNEE:
                return self.threshold_ms / latency_ms
            case Shape.LINEAR:
                return max(0.0, 2.0 - latency_ms / self.threshold_ms)
            case Shape.STEP:
                return 0.0


@dataclass(frozen=True)
class JuiceTarget:
    """At least `threshold` of the input processed."""

    threshold: float
    utility: Utility = Utility()

    def __post_init__(self) -> None:
        _within(self.threshold, "juice.threshold", 1.0)
        _check_points(self.utility, "juice.utility.points", 1.0, rising=True)

    def met(self, juice: float) -> bool:
        return juice >= self.threshold

    def share(self, juice: float) -> float:
        match self.utility.shape:
            case Shape.POINTS:
                return _between(self.utility.points, juice)
            case _ if self.met(juice):
                return 1.0
            case Shape.KNEE | Shape.LINEAR:
                return max(0.0, juice / self.threshold)
            case Shape.STEP:
                return 0.0


@dataclass(frozen=True)
class Objective:
    """`priority` is the utility of a job that reaches all its targets."""

    latency: LatencyTarget | None = None
    juice: JuiceTarget | None = None
    priority: float = 35.0

    def __post_init__(self) -> None:
        if self.latency is None and self.juice is None:
            raise Invalid("latency", "an SLO needs a latency target, a juice target or both")
        if not LOWEST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            raise Invalid("priority", f"{LOWEST_PRIORITY:g} to {HIGHEST_PRIORITY:g}")

    def utility(self, latency_ms: float | None, juice: float | None) -> float | None:
        """Returns the current utility, None where a target's value is not measured."""
        shares: list[float] = []
        for target, value in ((self.latency, latency_ms), (self.juice, juice)):
            if target is None:
                continue
            if not _is_known(value):
                return None
            shares.append(target.share(value))
        return self.priority * sum(shares) / len(shares)


def meets(objective: Objective, latency_ms: float | None, juice: float | None) -> bool | None:
    """Returns whether all thresholds are met. One that is missed decides; otherwise one that is
    not measured makes it unknown."""
    is_unknown = False
    for target, value in ((objective.latency, latency_ms), (objective.juice, juice)):
        if target is None:
            continue
        if not _is_known(value):
            is_unknown = True
        elif not target.met(value):
            return False
    return None if is_unknown else True


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and not isnan(value)


def _between(points: Sequence[Point], value: float) -> float:
    if value <= points[0][0]:
        return points[0][1]
    for (left, before), (right, after) in pairwise(points):
        if value <= right:
            part = before + (after - before) * ((value - left) / (right - left))
            # Rounding must not lead past the next point: that would break monotonicity.
            return min(part, after) if after > before else max(part, after)
    return points[-1][1]


def _within(value: float, field: str, most: float, unit: str = "") -> None:
    if not 0 < value <= most:
        raise Invalid(field, f"above 0, at most {most:g} {unit}".rstrip())


def _check_points(utility: Utility, field: str, most: float, rising: bool) -> None:
    points = utility.points
    if utility.shape is not Shape.POINTS:
        if points:
            raise Invalid(field, f"only a utility of shape {Shape.POINTS} has points")
        return
    if not FEWEST_POINTS <= len(points) <= MOST_POINTS:
        raise Invalid(field, f"{FEWEST_POINTS} to {MOST_POINTS} points")
    for value, share in points:
        if not 0 <= value <= most:
            raise Invalid(field, f"values from 0 to {most:g}")
        if not 0 <= share <= 1:
            raise Invalid(field, "shares from 0 to 1")
    for (value, share), (next_value, next_share) in pairwise(points):
        if next_value <= value:
            raise Invalid(field, "values that rise from point to point")
        if (next_share < share) if rising else (next_share > share):
            raise Invalid(
                field,
                "shares that never fall: more juice is not worth less"
                if rising
                else "shares that never rise: more latency is not worth more",
            )


def parse(data: Mapping[str, object]) -> Objective:
    """Reads what `as_data` writes, and refuses anything else with the field at fault."""
    fields = _fields(data, "", ("latency", "juice", "priority"))
    latency, juice = fields.get("latency"), fields.get("juice")
    priority = fields.get("priority")
    return Objective(
        None if latency is None else _latency(latency),
        None if juice is None else _juice(juice),
        Objective.priority if priority is None else _number(priority, "priority"),
    )


def as_data(objective: Objective) -> dict[str, object]:
    latency, juice = objective.latency, objective.juice
    return {
        "latency": latency
        and {
            "of": latency.of.value,
            "statistic": latency.statistic.value,
            "threshold_ms": latency.threshold_ms,
            "utility": _utility_data(latency.utility),
        },
        "juice": juice and {"threshold": juice.threshold, "utility": _utility_data(juice.utility)},
        "priority": objective.priority,
    }


def _utility_data(utility: Utility) -> dict[str, object]:
    data: dict[str, object] = {"shape": utility.shape.value}
    if utility.points:
        data["points"] = [list(point) for point in utility.points]
    return data


def _latency(data: object) -> LatencyTarget:
    fields = _fields(data, "latency", ("of", "statistic", "threshold_ms", "utility"))
    return LatencyTarget(
        _number(fields.get("threshold_ms"), "latency.threshold_ms"),
        _word(Statistic, fields.get("statistic"), "latency.statistic", Statistic.P99),
        _word(Of, fields.get("of"), "latency.of", Of.COMMITTED),
        _utility(fields.get("utility"), "latency.utility"),
    )


def _juice(data: object) -> JuiceTarget:
    fields = _fields(data, "juice", ("threshold", "utility"))
    return JuiceTarget(
        _number(fields.get("threshold"), "juice.threshold"),
        _utility(fields.get("utility"), "juice.utility"),
    )


def _utility(data: object, field: str) -> Utility:
    if data is None:
        return Utility()
    fields = _fields(data, field, ("shape", "points"))
    shape = _word(Shape, fields.get("shape"), f"{field}.shape", Shape.KNEE)
    points = fields.get("points")
    if points is None:
        return Utility(shape)
    field = f"{field}.points"
    if isinstance(points, str) or not isinstance(points, Sequence) or len(points) > MOST_POINTS:
        raise Invalid(field, f"a list of {FEWEST_POINTS} to {MOST_POINTS} points")
    return Utility(shape, tuple(_point(each, f"{field}[{at}]") for at, each in enumerate(points)))


def _point(data: object, field: str) -> Point:
    if isinstance(data, str) or not isinstance(data, Sequence) or len(data) != 2:
        raise Invalid(field, "a pair: a value and a share")
    return _number(data[0], field), _number(data[1], field)


def _fields(data: object, field: str, known: Sequence[str]) -> Mapping[str, object]:
    if not isinstance(data, Mapping):
        raise Invalid(field or "objective", "a map")
    for name in data:
        if name not in known:
            where = f"{field}.{str(name)[:40]}" if field else str(name)[:40]
            raise Invalid(where, f"not known; there are {', '.join(known)}")
    return data


def _number(value: object, field: str) -> float:
    if value is None:
        raise Invalid(field, "is missing")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid(field, "a number")
    # Comparing is safe for whole numbers too long for a float, and false for NaN.
    if not -FARTHEST <= value <= FARTHEST:
        raise Invalid(field, "a finite number")
    return float(value)


def _word(words: type[Word], value: object, field: str, default: Word) -> Word:
    if value is None:
        return default
    # A list is no key of an enum's values, but unhashable: look at the type first.
    if not isinstance(value, str) or value not in tuple(words):
        raise Invalid(field, f"one of {', '.join(words)}")
    return words(value)

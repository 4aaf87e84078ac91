"""Options as an operator gives them, checked against what a technique offers."""

from collections.abc import Mapping, Sequence
from math import isfinite

from techniques.model import Option, OptionKind, Scalar


class OptionFault(ValueError):
    """`field` is the option at fault."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


def checked(options: Sequence[Option], given: Mapping[str, object]) -> dict[str, Scalar]:
    """All options, with their defaults where nothing is given."""
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            there = ", ".join(known) or "none"
            raise OptionFault(name, f"no such option; there are {there}")
    return {
        name: _value(option, given[name]) if name in given else option.default
        for name, option in known.items()
    }


def _value(option: Option, value: object) -> Scalar:
    match option.kind:
        case OptionKind.BOOL:
            if isinstance(value, bool):
                return value
            raise OptionFault(option.name, "true or false")
        case OptionKind.CHOICE:
            if isinstance(value, str) and value in option.choices:
                return value
            raise OptionFault(option.name, f"one of {', '.join(option.choices)}")
        case OptionKind.INT:
            if isinstance(value, int) and not isinstance(value, bool):
                return _bounded(option, value)
            raise OptionFault(option.name, "a whole number")
        case OptionKind.FLOAT:
            if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
                return _bounded(option, float(value))
            raise OptionFault(option.name, "a number")


def _bounded(option: Option, value: float) -> Scalar:
    if option.low is not None and value < option.low:
        raise OptionFault(option.name, f"at least {option.low:g} {option.unit}".rstrip())
    if option.high is not None and value > option.high:
        raise OptionFault(option.name, f"at most {option.high:g} {option.unit}".rstrip())
    return value

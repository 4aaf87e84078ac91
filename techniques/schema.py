"""The settings of a decision, and the schema that a technique declares for them.

Settings travel from a controller through a document in Redis into the user's driver: data, never
code. Their shape is checked where they are decided and again where they are carried out, so that
neither side has to trust the other. A schema is made of these:

    Flag()                      true or false
    Number(low, high)           a finite number; `whole` for integers. Bounds are inclusive
    Word(choices) or Word()     one of the choices, or any text of at most `longest` characters
    ListOf(item, most)          a list of at most so many
    MapOf(value, most)          a map from texts to values, at most so many
    Fields({...}, optional)     a map with these names and no others
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TypeAlias

Setting: TypeAlias = bool | int | float | str | Sequence["Setting"] | Mapping[str, "Setting"]
Settings: TypeAlias = Mapping[str, Setting]

LONGEST_WORD = 200


class SettingFault(ValueError):
    """`path` says where in the settings, `why` what is wrong there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


@dataclass(frozen=True)
class Flag:
    def check(self, value: object, path: str) -> None:
        if not isinstance(value, bool):
            raise SettingFault(path, "true or false")


@dataclass(frozen=True)
class Number:
    low: float
    high: float
    whole: bool = False

    def check(self, value: object, path: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingFault(path, "a number")
        if isinstance(value, float) and (self.whole or not isfinite(value)):
            raise SettingFault(path, "a whole number" if self.whole else "a finite number")
        if not self.low <= value <= self.high:
            raise SettingFault(path, f"{self.low:g} to {self.high:g}")


@dataclass(frozen=True)
class Word:
    choices: tuple[str, ...] = ()
    longest: int = LONGEST_WORD

    def check(self, value: object, path: str) -> None:
        if not isinstance(value, str):
            raise SettingFault(path, "a word")
        if self.choices and value not in self.choices:
            raise SettingFault(path, f"one of {', '.join(self.choices)}")
        if len(value) > self.longest:
            raise SettingFault(path, f"at most {self.longest} characters")


@dataclass(frozen=True)
class ListOf:
    item: "Schema"
    most: int

    def check(self, value: object, path: str) -> None:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise SettingFault(path, "a list")
        if len(value) > self.most:
            raise SettingFault(path, f"at most {self.most} of them")
        for at, each in enumerate(value):
            self.item.check(each, f"{path}[{at}]")


@dataclass(frozen=True)
class MapOf:
    value: "Schema"
    most: int

    def check(self, value: object, path: str) -> None:
        if not isinstance(value, Mapping):
            raise SettingFault(path, "a map")
        if len(value) > self.most:
            raise SettingFault(path, f"at most {self.most} of them")
        for name, each in value.items():
            Word().check(name, f"a name in {path}")
            self.value.check(each, f"{path}.{name}")


@dataclass(frozen=True)
class Fields:
    """Each name is required unless it is among the optional ones."""

    required: Mapping[str, "Schema"] = field(default_factory=dict)
    optional: Mapping[str, "Schema"] = field(default_factory=dict)

    def check(self, value: object, path: str = "settings") -> None:
        if not isinstance(value, Mapping):
            raise SettingFault(path, "a map")
        for name in self.required:
            if name not in value:
                raise SettingFault(f"{path}.{name}", "is missing")
        known = {**self.required, **self.optional}
        for name, each in value.items():
            if name not in known:
                there = ", ".join(known) or "none"
                raise SettingFault(f"{path}.{str(name)[:40]}", f"not known; there are {there}")
            known[name].check(each, f"{path}.{name}")


Schema: TypeAlias = Flag | Number | Word | ListOf | MapOf | Fields

import pytest

from techniques.model import Option, OptionKind
from techniques.options import OptionFault, checked

OPTIONS = (
    Option("on", "On", OptionKind.BOOL, True),
    Option("threads", "Threads", OptionKind.INT, 2, low=1, high=8),
    Option("delay", "Delay", OptionKind.FLOAT, 0.5, low=0, high=10, unit="s"),
    Option("kind", "Kind", OptionKind.CHOICE, "a", choices=("a", "b")),
)


def test_what_is_not_given_has_its_default() -> None:
    assert checked(OPTIONS, {}) == {"on": True, "threads": 2, "delay": 0.5, "kind": "a"}


def test_what_is_given_is_taken() -> None:
    given = {"on": False, "threads": 8, "delay": 3, "kind": "b"}

    assert checked(OPTIONS, given) == {"on": False, "threads": 8, "delay": 3.0, "kind": "b"}


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("on", 1, "true or false"),
        ("threads", True, "a whole number"),
        ("threads", 2.5, "a whole number"),
        ("threads", 0, "at least 1"),
        ("threads", 9, "at most 8"),
        ("delay", float("nan"), "a number"),
        ("delay", "3", "a number"),
        ("delay", 11, "at most 10 s"),
        ("kind", "c", "one of a, b"),
        ("kind", ["a"], "one of a, b"),
        ("other", 1, "no such option; there are on, threads, delay, kind"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(name: str, value: object, why: str) -> None:
    with pytest.raises(OptionFault) as fault:
        checked(OPTIONS, {name: value})

    assert (fault.value.field, fault.value.why) == (name, why)

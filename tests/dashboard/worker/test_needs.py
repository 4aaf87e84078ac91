from types import SimpleNamespace

import pytest

from dashboard.worker.needs import reads_of_all
from techniques.detection import RULES
from techniques.registry import Registry
from techniques.view import BASIC, Reads

ECHO = "tests.techniques.echo"


def test_everything_that_a_rule_reads_is_read() -> None:
    assert reads_of_all(Registry()) >= frozenset[Reads]().union(*(r.READS for r in RULES.values()))


def test_what_no_rule_and_no_controller_reads_is_not() -> None:
    assert Reads.TRAFFIC not in reads_of_all(Registry((ECHO,)))


def test_a_controller_that_says_nothing_reads_the_basic_series(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.worker.needs.RULES", {})
    silent = SimpleNamespace(techniques={"echo": None}, controller=lambda _: SimpleNamespace())

    assert reads_of_all(silent) == BASIC  # type: ignore[arg-type]


def test_what_a_controller_says_it_reads_is_read() -> None:
    wants = SimpleNamespace(READS=frozenset((Reads.TRAFFIC, Reads.EXECUTORS)))
    registry = SimpleNamespace(techniques={"echo": None}, controller=lambda _: wants)

    assert reads_of_all(registry) >= wants.READS  # type: ignore[arg-type]

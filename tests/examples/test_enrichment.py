"""The enrichment example: its options, and the troubles that they plant."""

import pytest

from dashboard.cli import demo
from examples import enrichment
from techniques.pool.workload.heterogeneity import Heterogeneous


def enrich() -> enrichment.Enrich:
    return enrichment.Enrich(1)


def planted(*words: str) -> Heterogeneous:
    found = enrichment.planted(enrich(), enrichment.checked(enrichment.arguments(), words))
    assert isinstance(found, Heterogeneous)
    return found


def test_without_being_asked_nothing_is_planted() -> None:
    operator = enrich()
    options = enrichment.checked(enrichment.arguments(), ())
    assert enrichment.planted(operator, options) is operator


def test_a_slow_instance_is_four_times_slower_in_its_calls() -> None:
    made = planted("--slow-instance", "2")
    assert (made.slow, made.slow_operator, made.hangs_every) == ({2: 4.0}, True, {})
    # The pool and its page go on to call it by the operator's name.
    assert made.__name__ == "enrich"


def test_how_slow_it_is_can_be_chosen() -> None:
    assert planted("--slow-instance", "0", "--slow-times", "2.5").slow == {0: 2.5}


@pytest.mark.parametrize(("words", "instance"), [(("--hang",), 0), (("--hang", "3"), 3)])
def test_one_instance_hangs_for_two_of_ten_seconds(words: tuple[str, ...], instance: int) -> None:
    assert planted(*words).hangs_every == {instance: (10.0, 2.0)}


def test_the_rate_is_in_orders_a_second_and_keeps_its_old_name() -> None:
    for name in ("--rate", "--orders"):
        assert enrichment.arguments().parse_args([name, "40"]).rate == 40


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--slow-instance 8", "--slow-instance 8: there is no such instance, they have the "),
        ("--slow-instance -1", "the numbers 0 to 7"),
        ("--instances 2 --hang 2", "the numbers 0 to 1"),
        ("--hang x", "invalid int value: 'x'"),
        ("--slow-times 0.5", "'0.5' is not a number of at least 1"),
        ("--slow-times nan", "'nan' is not a number of at least 1"),
        ("--tail -1", "'-1' is not a number of at least 0"),
        ("--tail wide", "'wide' is not a number of at least 0"),
        ("--rate 0", "0 is not a positive number"),
        ("--plain --hang", "without the pool (--plain) there are no instances"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        enrichment.checked(enrichment.arguments(), words.split())
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("trouble", [None, *demo.POOL])
def test_the_demo_gives_it_options_that_it_takes(trouble: str | None) -> None:
    words = demo.words(calm=True, pool=trouble)
    options = enrichment.checked(enrichment.arguments(), words["enrichment"])
    assert options.rate == 40
    assert (options.slow_instance is not None) == (trouble == "slow-instance")
    assert (options.hang is not None) == (trouble == "hang")
    assert words["traffic_jam"][:2] == ("--setting", "calm")

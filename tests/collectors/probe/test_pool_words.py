"""A pool's words, policies and settings, as the sources of the probe and Python have them."""

import re

import pytest

from collectors.spark.build import PROBE_DIR
from techniques.pool import page, page_words
from techniques.pool.page_words import HeaderWord, InstanceWord, OperatorWord, SlotWord
from techniques.pool.plan import MOST_INSTANCES
from techniques.pool.policies import POLICIES
from techniques.pool.settings import SETTINGS

POOL_DIR = PROBE_DIR / "pool"
PAGE = (POOL_DIR / "PoolPage.scala").read_text()
WISH = (POOL_DIR / "PoolWish.scala").read_text()


def test_the_lever_knows_the_same_policies_by_the_same_numbers() -> None:
    table = WISH.partition("val Policies")[2].partition(")\n")[0]
    scala = {name: int(number) for name, number in re.findall(r'"([^"]+)" -> (\d+)', table)}
    assert scala == {name: number for name, (number, _) in POLICIES.items()}


def test_the_lever_knows_the_same_settings_at_the_same_places_with_the_same_bounds() -> None:
    table = WISH.partition("val Settings")[2].partition("))\n")[0]
    scala = re.findall(r'PoolSetting\("(\w+)", (\d+), (\d+)', table)
    assert scala == [(each.name, str(each.low), str(each.high)) for each in SETTINGS]


def test_every_setting_starts_within_its_bounds() -> None:
    for each in SETTINGS:
        assert each.low <= each.default <= each.high, each.name


def test_there_is_room_for_every_setting_and_for_what_the_lever_found() -> None:
    last = len(SETTINGS) - 1
    assert HeaderWord.POLICY_FOUND < HeaderWord.SETTINGS
    assert HeaderWord.SETTINGS + last < HeaderWord.SETTINGS_FOUND
    assert HeaderWord.SETTINGS_FOUND + last < HeaderWord.TIMEOUT_US


@pytest.mark.parametrize(
    ("scala", "python"),
    [
        ("Header", HeaderWord),
        ("Operator", OperatorWord),
        ("Instance", InstanceWord),
        ("Slot", SlotWord),
    ],
)
def test_the_probe_has_each_word_where_python_has_it(scala: str, python: type) -> None:
    table = PAGE.partition(f"  object {scala} {{")[2].partition("\n  }")[0]
    found = {name: int(at) for name, at in re.findall(r"val (\w+) = (\d+)", table)}
    # Values of a state or of service, not words.
    for value in ("Dead", "Ready", "Finishes"):
        found.pop(value, None)
    assert found
    names = {"LatencyBuckets": "BUCKETS"}
    snake = {
        names.get(name, re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()): at
        for name, at in found.items()
    }
    assert snake == {name: getattr(python, name) for name in snake}


@pytest.mark.parametrize(
    ("scala", "python"),
    [
        ("Version", page.VERSION),
        ("HeaderWords", page.HEADER_WORDS),
        ("OperatorWords", page.OPERATOR_WORDS),
        ("InstanceWords", page.INSTANCE_WORDS),
        ("SlotWords", page.SLOT_WORDS),
        ("MostSlots", page.MOST_SLOTS),
        ("NameBytes", page.NAME_BYTES),
        ("MostInstances", MOST_INSTANCES),
        ("Running", page.RUNNING),
        ("Dead", page.DEAD),
        ("Ready", page.READY),
        ("Finishes", page.FINISHES),
    ],
)
def test_the_probe_counts_words_as_python_does(scala: str, python: int) -> None:
    assert re.findall(rf"val {scala} = (\d+)", PAGE) == [str(python)]


def test_no_two_words_share_a_place() -> None:
    for each in (HeaderWord, OperatorWord, InstanceWord, SlotWord):
        places = [at for name, at in vars(each).items() if name.isupper()]
        assert len(set(places)) == len(places), each
    assert max(vars(page_words.OperatorWord).values(), key=_place) < page.OPERATOR_WORDS
    assert max(vars(page_words.InstanceWord).values(), key=_place) < page.INSTANCE_WORDS
    assert max(vars(page_words.SlotWord).values(), key=_place) < page.SLOT_WORDS


def test_the_docs_have_every_setting_with_its_first_value_and_bounds() -> None:
    docs = (PROBE_DIR.parent.parent / "docs" / "control.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) to (\d+) \|", docs, re.MULTILINE)
    assert rows == [(each.name, *map(str, map(int, each[1:]))) for each in SETTINGS]


def _place(value: object) -> int:
    return value if isinstance(value, int) else -1

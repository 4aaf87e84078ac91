import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

MADE = """
const pause = (start_ms, end_ms, executor = "1") =>
  ({ kind: "gc", executor, operator: null, partition: null, start_ms, end_ms });
const kept = new m.Intervals();
"""


def test_an_interval_that_comes_again_is_kept_once(blank: Page) -> None:
    size = run(
        blank,
        "intervals",
        MADE
        + "kept.put([pause(5, 9)]); kept.put([pause(5, 9), pause(5, 9, '2')]); return kept.size;",
    )
    assert size == 2


def test_those_that_overlap_a_range_are_found(blank: Page) -> None:
    starts = run(
        blank,
        "intervals",
        MADE
        + """
        kept.put([pause(0, 10), pause(90, 120), pause(150, 160), pause(300, 310)]);
        return kept.within("gc", 100, 300).map(({ start_ms }) => start_ms);""",
    )
    assert starts == [90, 150]


def test_what_is_older_than_the_ring_is_forgotten(blank: Page) -> None:
    size = run(
        blank,
        "intervals",
        MADE
        + """
        for (let i = 0; i < 1000; i += 1) kept.put([pause(i * 10_000, i * 10_000 + 5)]);
        return kept.size;""",
    )
    assert size <= 15 * 60 / 10 + 1

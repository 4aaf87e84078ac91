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
        "chart/intervals",
        MADE
        + "kept.put([pause(5, 9)]); kept.put([pause(5, 9), pause(5, 9, '2')]); return kept.size;",
    )
    assert size == 2


def test_those_that_overlap_a_range_are_found(blank: Page) -> None:
    starts = run(
        blank,
        "chart/intervals",
        MADE
        + """
        kept.put([pause(0, 10), pause(90, 120), pause(150, 160), pause(300, 310)]);
        return kept.within("gc", 100, 300).map(({ start_ms }) => start_ms);""",
    )
    assert starts == [90, 150]


def test_what_is_older_than_the_ring_is_forgotten(blank: Page) -> None:
    size = run(
        blank,
        "chart/intervals",
        MADE
        + """
        for (let i = 0; i < 1000; i += 1) kept.put([pause(i * 10_000, i * 10_000 + 5)]);
        return kept.size;""",
    )
    # In bunches of 256: a list is not moved for every single one.
    assert size <= 15 * 60 / 10 + 1 + 256


def test_they_are_found_by_time_whatever_order_they_came_in(blank: Page) -> None:
    starts = run(
        blank,
        "chart/intervals",
        MADE
        + """
        kept.put([pause(300, 310)]);
        kept.put([pause(150, 160), pause(90, 120), pause(0, 10)]);
        return kept.within("gc", 100, 400).map(({ start_ms }) => start_ms);""",
    )
    assert starts == [90, 150, 300]


def test_a_frozen_copy_keeps_what_the_original_forgets(blank: Page) -> None:
    sizes = run(
        blank,
        "chart/intervals",
        MADE
        + """
        kept.put([pause(0, 10)]);
        const still = kept.freeze();
        for (let i = 0; i < 600; i += 1) kept.put([pause(1e7 + i, 1e7 + i + 1)]);
        kept.put(Array.from({ length: 300 }, (_, i) => pause(2e7 + i, 2e7 + i + 1)));
        return [still.within("gc", 0, 100).length, kept.within("gc", 0, 100).length];""",
    )
    assert sizes == [1, 0]

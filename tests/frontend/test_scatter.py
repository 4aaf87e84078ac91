"""The figure on a technique's card: the paper's Figure 15, from the technique's own data."""

from dataclasses import asdict
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from techniques.model import Decision
from techniques.shadowsync.exploration import Exploration, State
from techniques.shadowsync.picture import figure
from tests.frontend import fleet
from tests.frontend.live import Live
from tests.frontend.modules import run
from tests.techniques.shadowsync.curves import curved

pytestmark = pytest.mark.browser

LEVELS = range(1, 17)


def knee() -> dict[str, Any]:
    """As of a search that found the paper's 4, the more at once the rarer."""
    seen = {
        level: [380.0 + 9 * level + 75 * max(0, level - 4)] * (1200 // level) for level in LEVELS
    }
    why = "beyond 4 compactions at once p99 rises"
    over = Exploration("run", State.OVER, 0, (1, 2, 4, 8, 16), 4, seen, 4, why)
    return asdict(figure(curved([]), Decision({}, "", memory=over.as_memory())))


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def shown(live: Live, drawn: dict[str, Any], **changes: Any) -> Locator:
    item = fleet.card("shadowsync", title="ShadowSync desynchronisation", **changes)
    live.cards = [{**item, "figure": drawn}]
    live.start()
    found = live.page.get_by_role("article").locator(".technique-figure")
    expect(found).to_be_visible()
    return found


def test_a_card_draws_the_curve_with_its_knee(live: Live) -> None:
    drawn = shown(live, knee())

    expect(drawn.locator("circle")).to_have_count(16)
    expect(drawn.locator("circle.marked title")).to_have_text(
        "4 compactions at once: p99 416 ms, 300 windows"
    )
    expect(drawn.locator(".mark-label")).to_have_text("knee: 4")
    expect(drawn).to_contain_text("compactions at once on the busiest executor")
    expect(drawn).to_contain_text("p99 latency, median of 50 ms windows")
    expect(drawn).to_contain_text("500 ms")
    expect(drawn).to_contain_text("Beyond 4 compactions at once p99 rises.")
    expect(drawn).to_contain_text("The larger a point, the more windows.")
    # For those who cannot see it.
    told = drawn.get_by_role("img").get_attribute("aria-label") or ""
    assert "knee: 4; 1 compaction at once: p99 389 ms, 1200 windows; 2 compactions" in told
    assert live.errors == []


def test_it_is_drawn_as_wide_as_there_is_room_and_axe_finds_nothing(live: Live, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    drawn = shown(live, knee())
    expect(drawn.locator("circle")).to_have_count(16)

    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    inside = drawn.evaluate(
        """(figure) => {
          const { left, right, top, bottom } = figure.querySelector("svg").getBoundingClientRect();
          return [...figure.querySelectorAll("text, circle")].every((node) => {
            const box = node.getBoundingClientRect();
            return box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom;
          });
        }"""
    )
    assert inside
    found = Axe().run(page, context=".technique-figure").response["violations"]
    assert [rule["id"] for rule in found] == []
    # And wider when the phone is turned.
    page.set_viewport_size({"width": 844, "height": 390})
    expect(drawn.locator("svg")).not_to_have_attribute("width", "358")


def test_without_points_it_says_why(live: Live) -> None:
    drawn = shown(live, asdict(figure(curved([]), None)), mode="advise")

    expect(drawn).to_contain_text(
        "Nothing to draw yet: there were too few windows with compactions."
    )
    expect(drawn.locator("svg")).to_have_count(0)


def test_a_figure_of_a_later_kind_is_told_in_words(live: Live) -> None:
    drawn = shown(live, {**knee(), "kind": "surface"})

    expect(drawn).to_contain_text("Beyond 4 compactions at once p99 rises.")
    expect(drawn.locator("svg")).to_have_count(0)


def test_a_card_without_a_figure_draws_none(live: Live, page: Page) -> None:
    nothing_yet = asdict(figure(curved([]), None))
    live.cards = [
        {**fleet.card("echo", title="Echo"), "figure": None},
        {**fleet.card("shadowsync", mode="off"), "figure": nothing_yet},
    ]
    live.start()

    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.locator(".technique-figure")).to_have_count(0)


def test_twice_the_weight_is_twice_the_ink(blank: Page) -> None:
    inks = run(blank, "chart/scatter", "return [200, 100, 1].map((w) => m.radius(w, 200) ** 2);")

    assert inks[0] == pytest.approx(2 * inks[1])
    assert inks[2] == 9


@pytest.mark.parametrize(
    ("values", "width", "marks"),
    [
        ([1, 2, 3, 4], 300, [1, 2, 3, 4]),
        ([3], 300, [3]),
        (list(LEVELS), 300, [2, 4, 6, 8, 10, 12, 14, 16]),
        (list(LEVELS), 600, list(LEVELS)),
        ([0.1, 0.45], 200, [0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_places_across_are_round(
    blank: Page, values: list[float], width: int, marks: list[float]
) -> None:
    axis = run(blank, "chart/scatter", "return m.acrossAxis(...given);", [values, width])

    assert axis["values"] == pytest.approx(marks)
    assert axis["range"][0] < min(values)
    assert axis["range"][1] > max(values)


def test_other_units_are_named_beside_the_axis(blank: Page) -> None:
    words = run(
        blank,
        "chart/scatter",
        """const drawn = m.draw({ x: { label: "batch", unit: "" }, y: { label: "read", unit: "MB" },
          points: [{ x: 1, y: 4000, weight: 1, says: "one" }], mark: null }, 300);
        return [...drawn.querySelectorAll("text")].map((node) => node.textContent);""",
    )
    assert words[0] == "read (MB)"
    assert "batch" in words
    assert any(word.startswith("4.00") for word in words)

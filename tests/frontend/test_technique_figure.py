"""The figure on a technique's card, from the technique's own data: points (the paper's Figure 15),
lines and bars."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from techniques.model import Axis, Bar, Decision, Figure, FigureKind, Mark, Series
from techniques.shadowsync.exploration import Exploration, State
from techniques.shadowsync.picture import figure
from tests.frontend import fleet
from tests.frontend.live import Live
from tests.frontend.modules import run
from tests.techniques.shadowsync.curves import curved

pytestmark = pytest.mark.browser

LEVELS = range(1, 17)

# Whether all that is drawn is within the drawing.
INSIDE = """(figure) => {
  const { left, right, top, bottom } = figure.querySelector("svg").getBoundingClientRect();
  return [...figure.querySelectorAll(".technique-plot :is(text, circle, rect)")].every((node) => {
    const box = node.getBoundingClientRect();
    return box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom;
  });
}"""


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
    assert drawn.evaluate(INSIDE)
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


def lines() -> dict[str, Any]:
    return asdict(
        Figure(
            FigureKind.LINES,
            "Reward by round",
            Axis("round"),
            Axis("p99 latency", "ms"),
            mark=Mark(3, "switched"),
            note="The second policy pays off.",
            series=(
                Series("always on", (1, 2, 3, 4), (500, 520, 510, 505)),
                Series("by backlog", (1, 2, 3, 4), (510, 480, 300, 250)),
            ),
        )
    )


def bars() -> dict[str, Any]:
    return asdict(
        Figure(
            FigureKind.BARS,
            "Backlog of each instance",
            Axis("instance"),
            Axis("backlog", "rows"),
            note="One has most of it.",
            bars=(
                Bar("instance 0 on worker-1", 12_000, "instance 0: 12 000 rows"),
                Bar("instance 1 on worker-2", 0, "instance 1: none"),
            ),
        )
    )


def test_lines_have_a_key_and_differ_without_colour(live: Live) -> None:
    drawn = shown(live, lines())

    expect(drawn.locator(".technique-plot path.line")).to_have_count(2)
    expect(drawn.get_by_role("listitem")).to_have_text(["always on", "by backlog"])
    expect(drawn.locator(".mark-label")).to_have_text("switched")
    expect(drawn).to_contain_text("400 ms")
    expect(drawn).to_contain_text("The second policy pays off.")
    told = drawn.get_by_role("img").get_attribute("aria-label") or ""
    assert "switched; always on: from 500\u00a0ms to 520\u00a0ms, at last 505\u00a0ms" in told
    dashes = drawn.locator(".technique-plot path.line").evaluate_all(
        "(paths) => paths.map((path) => getComputedStyle(path).strokeDasharray)"
    )
    assert dashes[0] != dashes[1]
    assert live.errors == []


def test_bars_are_as_long_as_their_values_and_say_them(live: Live) -> None:
    drawn = shown(live, bars())

    expect(drawn.locator("rect.bar")).to_have_count(2)
    longest, shortest = drawn.locator("rect.bar").evaluate_all(
        "(bars) => bars.map((bar) => bar.getBBox().width)"
    )
    assert longest > 200 * shortest
    expect(drawn).to_contain_text("instance 0 on worker-1")
    expect(drawn).to_contain_text("12.0\u00a0k rows")
    expect(drawn).to_contain_text("One has most of it. Bars: backlog (rows) by instance.")
    told = drawn.get_by_role("img").get_attribute("aria-label") or ""
    assert told == "Backlog of each instance; instance 0: 12 000 rows; instance 1: none"
    assert live.errors == []


@pytest.mark.parametrize("made", [lines, bars])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_bars_fit_a_phone_and_axe_finds_nothing(
    live: Live, page: Page, made: Callable[[], dict[str, Any]], scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    drawn = shown(live, made())
    expect(drawn.locator("svg").first).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert drawn.evaluate(INSIDE)
    found = Axe().run(page, context=".technique-figure").response["violations"]
    assert [rule["id"] for rule in found] == []


@pytest.mark.parametrize("made", [lines, bars])
def test_without_lines_or_bars_it_says_why(live: Live, made: Callable[[], dict[str, Any]]) -> None:
    drawn = shown(live, {**made(), "series": [], "bars": [], "note": "Not yet."}, mode="advise")

    expect(drawn).to_contain_text("Not yet.")
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
    inks = run(
        blank, "technique/scatter", "return [200, 100, 1].map((w) => m.radius(w, 200) ** 2);"
    )

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
    axis = run(blank, "technique/svg", "return m.acrossAxis(...given);", [values, width])

    assert axis["values"] == pytest.approx(marks)
    assert axis["range"][0] < min(values)
    assert axis["range"][1] > max(values)


def test_other_units_are_named_beside_the_axis(blank: Page) -> None:
    words = run(
        blank,
        "technique/scatter",
        """const drawn = m.draw({ x: { label: "batch", unit: "" }, y: { label: "read", unit: "MB" },
          points: [{ x: 1, y: 4000, weight: 1, says: "one" }], mark: null }, 300);
        return [...drawn.querySelectorAll("text")].map((node) => node.textContent);""",
    )
    assert words[0] == "read (MB)"
    assert "batch" in words
    assert any(word.startswith("4.00") for word in words)

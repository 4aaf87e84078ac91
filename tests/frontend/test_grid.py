"""A grid on a technique's card: where each state partition lives, and what moved."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FloatRect, Locator, Page, expect

from techniques.model import Axis, Cell, Figure, FigureKind, Grid, Shift
from tests.frontend import fleet
from tests.frontend.live import Live
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

SLOW = 1
NOTE = "Executor 2 takes twice as long for its partitions as the others."


def figure(executors: int, partitions: int, *shifts: Shift) -> Figure:
    """Partitions in turns, the second executor slow, the state of each larger than the last."""
    row_of = {column: column % executors for column in range(partitions)}
    row_of |= {shift.column: shift.to_row for shift in shifts}
    cells = tuple(
        Cell(
            row,
            column,
            value=(240.0 if row == SLOW else 120.0) + 2 * (column % 7),
            size=(column + 1) / partitions,
            says=f"partition {column} on executor {row + 1}: {column + 1} MB",
        )
        for column, row in row_of.items()
    )
    rows = tuple(f"{row + 1} on worker-{row + 1}.spark.internal" for row in range(executors))
    columns = tuple(str(column) for column in range(partitions))
    return Figure(
        FigureKind.GRID,
        "Where each state partition lives",
        Axis("state partition"),
        Axis("median task time", "ms"),
        note=NOTE,
        grid=Grid(rows, columns, cells, shifts, sizes="state"),
    )


def small() -> Figure:
    moved = Shift(1, SLOW, 2, "partition 1 went from executor 2 to executor 3, 4 s ago", ago_s=4)
    older = Shift(7, SLOW, 0, "partition 7 went from executor 2 to executor 1, 50 s ago", ago_s=50)
    return figure(3, 8, moved, older)


def large() -> Figure:
    return figure(20, 60, *(Shift(at, SLOW, at // 3, f"{at} went", ago_s=at) for at in (21, 41)))


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def card(drawn: Figure, **changes: Any) -> dict[str, Any]:
    item = fleet.card("state_balancing", title="State balancing", **changes)
    return {**item, "figure": asdict(drawn)}


def shown(live: Live, drawn: Figure) -> Locator:
    live.cards = [card(drawn), fleet.card("echo", title="Echo")]
    live.start()
    found = live.page.get_by_role("article").locator(".technique-figure")
    expect(found).to_be_visible(timeout=90_000)
    return found


def square(drawn: Locator, partition: int) -> Locator:
    return drawn.locator(f".square[title^='partition {partition} on']")


def box(drawn: Locator) -> FloatRect:
    found = drawn.bounding_box()
    assert found
    return found


def right(drawn: Locator) -> float:
    found = box(drawn)
    return found["x"] + found["width"]


def test_every_partition_is_a_square_in_the_row_of_its_executor(live: Live) -> None:
    """Though the technique is off."""
    drawn = shown(live, small())

    expect(drawn.locator("tbody tr")).to_have_count(3)
    expect(drawn.locator(".square")).to_have_count(8)
    expect(drawn.get_by_role("row").nth(2).locator(".square")).to_have_count(1)
    expect(square(drawn, 4)).to_have_attribute("title", "partition 4 on executor 2: 5 MB")
    expect(drawn.get_by_role("gridcell", name="partition 4 on executor 2: 5 MB")).to_be_visible()
    expect(drawn.get_by_role("columnheader", name="7", exact=True)).to_be_visible()
    expect(drawn).to_contain_text(NOTE)
    expect(drawn).to_contain_text("Area: state")
    told = drawn.get_by_role("grid").get_attribute("aria-label") or ""
    assert told.startswith(f"Where each state partition lives; {NOTE}; partition 1 went from")
    assert live.errors == []


def test_twice_the_state_is_twice_the_ink_and_slower_is_stronger(live: Live) -> None:
    drawn = shown(live, figure(3, 8))
    ink = "(td) => parseFloat(getComputedStyle(td, '::before').width) ** 2"
    paint = "(td) => getComputedStyle(td, '::before').backgroundColor"

    assert square(drawn, 7).evaluate(ink) == pytest.approx(2 * square(drawn, 3).evaluate(ink), 0.1)
    assert square(drawn, 1).evaluate(paint) != square(drawn, 0).evaluate(paint)
    # The colours of 0 and of the slowest: an even cluster looks even.
    expect(drawn.locator(".technique-key")).to_contain_text("Colour: median task time 0\u00a0ms")
    expect(drawn.locator(".technique-key")).to_contain_text("248\u00a0ms")


def test_a_move_is_an_arrow_in_its_column_that_fades(live: Live) -> None:
    drawn = shown(live, small())
    arrows = drawn.locator(".move")

    # The newest over the older ones.
    expect(arrows.locator("title")).to_have_text(
        [
            "partition 7 went from executor 2 to executor 1, 50 s ago",
            "partition 1 went from executor 2 to executor 3, 4 s ago",
        ]
    )
    up, down = arrows.all()
    assert float(up.get_attribute("opacity") or 1) < float(down.get_attribute("opacity") or 0)
    # From its old row to the square where it is now.
    arrow, target = box(down), box(square(drawn, 1))
    slow = box(drawn.locator("tbody tr").nth(SLOW))
    middle = arrow["x"] + arrow["width"] / 2
    assert middle == pytest.approx(target["x"] + target["width"] / 2, abs=1)
    assert slow["y"] <= arrow["y"] < target["y"] <= arrow["y"] + arrow["height"]
    # Where it was says so too, for those who cannot see the arrow.
    left = drawn.locator("tbody tr").nth(SLOW).locator("td").nth(1)
    expect(left).to_have_attribute(
        "title", "partition 1 went from executor 2 to executor 3, 4 s ago"
    )


def test_a_square_is_read_under_the_pointer_and_by_arrow_keys(live: Live, page: Page) -> None:
    drawn = shown(live, figure(3, 8))
    readout = drawn.locator(".technique-says")
    expect(readout).to_contain_text("Point at a square")

    square(drawn, 5).hover()
    expect(readout).to_have_text("partition 5 on executor 3: 6 MB")
    square(drawn, 0).focus()
    page.keyboard.press("ArrowRight")
    expect(square(drawn, 3)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(square(drawn, 4)).to_be_focused()
    expect(readout).to_have_text("partition 4 on executor 2: 5 MB")
    # One stop on the way through the page, not eight.
    expect(drawn.locator("[tabindex='0']")).to_have_count(1)


def test_a_refresh_leaves_the_reader_where_he_was(live: Live, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    drawn = shown(live, large())
    square(drawn, 30).focus()
    scrolled = drawn.locator(".technique-plot").evaluate("(plot) => plot.scrollLeft")
    assert scrolled > 0

    live.cards = [card(replace(large(), note="Another note."))]
    live.until(lambda: bool(live.sockets))
    live.send({"type": "cards", "items": live.cards})
    expect(drawn).to_contain_text("Another note.", timeout=90_000)
    assert drawn.locator(".technique-plot").evaluate("(plot) => plot.scrollLeft") == scrolled
    expect(square(drawn, 30)).to_be_focused()
    expect(drawn.locator(".technique-says")).to_have_text("partition 30 on executor 11: 31 MB")


def test_sixty_columns_fit_a_screen_and_can_be_told_apart(live: Live) -> None:
    drawn = shown(live, large())

    expect(drawn.locator(".square")).to_have_count(60)
    plot = drawn.locator(".technique-plot")
    assert plot.evaluate("(plot) => plot.scrollWidth - plot.clientWidth") == 0
    # Arrows lie over their columns there too.
    arrow, column = box(drawn.locator(".move").first), box(square(drawn, 41))
    assert arrow["x"] + arrow["width"] / 2 == pytest.approx(
        column["x"] + column["width"] / 2, abs=1
    )
    last = box(square(drawn, 59))
    assert min(last["width"], last["height"]) >= 16
    assert live.errors == []


@pytest.mark.parametrize("made", [small, large])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_grid_scrolls_and_the_page_does_not(
    live: Live, page: Page, made: Callable[[], Figure], scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    drawn = shown(live, made())
    last = drawn.locator(".square").last
    last.scroll_into_view_if_needed()

    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    # The names of the executors stay in view.
    expect(drawn.locator("tbody th").last).to_be_in_viewport()
    expect(last).to_be_in_viewport()
    # Nor does what has the focus hide behind them.
    square(drawn, 3).focus()
    assert box(square(drawn, 3))["x"] >= right(drawn.locator("tbody th").first) - 1
    found = Axe().run(page, context=".technique-figure").response["violations"]
    assert [rule["id"] for rule in found] == []
    assert live.errors == []


def test_without_cells_it_says_why(live: Live) -> None:
    live.cards = [card(replace(small(), grid=None, note="No state yet."), mode="advise")]
    live.start()

    drawn = live.page.get_by_role("article").locator(".technique-figure")
    expect(drawn).to_contain_text("No state yet.")
    expect(drawn.locator("table")).to_have_count(0)


def test_a_card_that_does_not_fit_keeps_its_place_if_it_draws_something(blank: Page) -> None:
    unfit = {"mode": "off", "conditions": {"hold": False, "why": "all are as quick"}}
    items = [
        {**unfit, "name": "state_balancing", "figure": asdict(small())},
        {**unfit, "name": "other", "figure": asdict(replace(small(), grid=None))},
        {**unfit, "name": "another", "figure": None},
    ]
    body = "return m.unfitTogether(given).map(({name}) => name);"

    assert run(blank, "technique/techniques", body, items) == ["other", "another"]


def test_negative_values_and_equal_ones_have_colours_too(blank: Page) -> None:
    body = "return given.map((values) => m.ends({ cells: values.map((value) => ({ value })) }));"

    assert run(blank, "technique/grid", body, [[-3, 5], [7, 7], [0]]) == [
        {"low": -3, "high": 5},
        {"low": 0, "high": 7},
        {"low": 0, "high": 0},
    ]


@pytest.mark.parametrize(
    ("key", "to"),
    [
        ("ArrowLeft", "1/0"),
        ("ArrowRight", "1/5"),
        ("ArrowUp", "0/3"),
        ("ArrowDown", "3/1"),  # over an empty row
        ("Home", None),
    ],
)
def test_arrow_keys_lead_to_the_nearest_square(blank: Page, key: str, to: str | None) -> None:
    places = [(0, 3), (1, 0), (1, 2), (1, 5), (3, 1), (3, 7)]
    cells = [{"row": row, "column": column} for row, column in places]
    body = "return m.reached(given.cells, [1, 2], given.key) ?? null;"

    assert run(blank, "technique/walk", body, {"cells": cells, "key": key}) == to

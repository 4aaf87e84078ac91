from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

START_MS, END_MS = 1_000_000, 1_060_000

MAKE = """
const colours = { ink: "black", muted: "grey", red: "red", ground: "white", p50: "blue", p99: "navy", font: "sans-serif" };
const items = [{ key: "p50", name: "p50", look: { colour: "p50" } }, { key: "p99", name: "<p99>", look: { colour: "p99", dash: "dash" } }];
const figure = {
  lines: [{ x: [1, 2], y: [3, 4], look: { colour: "p99" } }],
  dots: [],
  layout: { height: 500, width: 900, margin: { t: 42, l: 62, r: 24, b: 40 } },
  heads: [{ title: "Latency", note: "", items, topPx: 16 }, { title: "Backlog", note: "not told", items: [], topPx: 200 }],
};
const range = [given.start, given.end];
const made = m.pictureOf(figure, {
  job: "orders.scored", range, zone: "utc", colours,
  hidden: new Set(given.hidden ?? []), incidents: given.incidents ?? [],
});
"""  # noqa: E501 - JavaScript


def layout(blank: Page, **given: Any) -> Any:
    given |= {"start": START_MS, "end": END_MS}
    return run(blank, "job/download", f"{MAKE} return made.layout;", given)


def texts(made: Any) -> list[str]:
    return [each["text"] for each in made["annotations"]]


def test_a_picture_says_of_which_job_and_time_it_is(blank: Page) -> None:
    made = layout(blank)
    assert texts(made)[0].startswith("orders.scored · ")
    assert texts(made)[0].endswith("UTC")
    assert made["height"] == 540


def test_every_line_is_named_beside_a_piece_of_it(blank: Page) -> None:
    made = layout(blank)
    assert texts(made)[1:] == ["Latency", "p50", "&lt;p99>", "Backlog", "not told"]
    swatches = [(each["line"]["color"], each["line"]["dash"]) for each in made["shapes"]]
    assert swatches == [("blue", "solid"), ("navy", "dash")]
    first, second = made["shapes"]
    assert first["x1"] < made["annotations"][2]["xshift"] < second["x0"]


def test_a_series_that_is_hidden_is_not_in_the_picture(blank: Page) -> None:
    made = layout(blank, hidden=["p50"])
    assert "p50" not in texts(made)
    assert len(made["shapes"]) == 1


def test_incidents_that_began_in_the_range_are_marked(blank: Page) -> None:
    incidents = [
        {"onset_ms": START_MS + 5, "state": "open"},
        {"onset_ms": START_MS + 9, "state": "resolved"},
        {"onset_ms": END_MS + 1, "state": "open"},
    ]
    marks = [each for each in layout(blank, incidents=incidents)["shapes"] if each["xref"] == "x"]
    assert [(each["x0"], each["line"]["color"]) for each in marks] == [
        (START_MS + 5, "red"),
        (START_MS + 9, "grey"),
    ]

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser


def test_what_is_written_is_read_again(blank: Page) -> None:
    state = {
        "range": [1_000, 61_000],
        "spanMs": 60_000,
        "scale": "linear",
        "which": "committed",
        "hidden": ["p50", "host a&b=c"],
        "compare": {"a": [5, 10], "b": [10, 15]},
        "incident": 12,
    }
    assert run(blank, "job/urlstate", "return m.parse(m.format(given));", state) == state


def test_a_live_view_has_no_range_in_its_address(blank: Page) -> None:
    text = run(
        blank,
        "job/urlstate",
        """return m.format({ range: null, spanMs: 300000, scale: "log", which: "processed",
                             hidden: new Set(), compare: null, incident: null });""",
    )
    assert text == "?span=300000&scale=log&latency=processed"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?from=9&to=3",
        "?from=abc&to=1e5",
        "?from=-5&to=9",
        "?span=1.5&scale=cubic&latency=no",
        "?a=5-4&b=1-2",
        "?a=1-2",
        "?incident=<b>",
    ],
)
def test_nonsense_in_an_address_is_as_if_it_were_not_there(blank: Page, query: str) -> None:
    assert run(blank, "job/urlstate", "return m.parse(given);", query) == {
        "range": None,
        "spanMs": None,
        "scale": None,
        "which": None,
        "hidden": [],
        "compare": None,
        "incident": None,
    }

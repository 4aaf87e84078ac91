"""What should be done before any technique: on its card and on the page of an incident."""

from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from techniques.detection.changelogs import CHANGELOGS_FIRST
from tests.frontend import fleet
from tests.frontend.live import JOB, Live, now_ms
from tests.frontend.static_server import Answer, StandIn, render

pytestmark = pytest.mark.browser

FIRST = asdict(CHANGELOGS_FIRST)
HOLDS = {"hold": True, "why": "Stages 0 and 1 compact at the same time", "first": FIRST}
INSTEAD = "If it cannot restart now, this acts on the running job:"


def advised_card(**changes: Any) -> dict[str, Any]:
    return fleet.card("shadowsync", title="ShadowSync", **{"conditions": HOLDS, **changes})


def top(found: Locator) -> float:
    box = found.bounding_box()
    assert box
    return box["y"]


def incident_page(base: str, page: Page, cards: list[Any], **changes: Any) -> StandIn:
    item = fleet.incident(7, now_ms() - 60_000, technique="shadowsync", **changes)
    answers: dict[str, Any] = {
        "/incidents/7": item,
        f"/jobs/{JOB.id}/techniques": {"items": cards},
    }
    nothing = Answer(503, {"title": "Redis does not answer", "status": 503})
    stand_in = StandIn(base, page, lambda path, query: answers.get(path, nothing))
    known = SimpleNamespace(pk=7, **{name: item[name] for name in ("title", "state", "severity")})
    context = {"incident": known, "job": JOB, "role": "operator"}
    stand_in.open("/incidents/7", render("incident.html", context))
    return stand_in


def test_a_card_says_it_before_its_switch_with_the_line_to_copy(base: str, page: Page) -> None:
    live = Live(base, page, lambda path, query: None)
    live.cards = [advised_card()]
    live.start()
    card = page.get_by_role("article", name="ShadowSync")
    advice = card.locator(".advice")
    expect(advice).to_contain_text("First: Set changelog checkpointing and restart the job.")
    expect(advice.locator("code")).to_have_text(FIRST["line"])
    expect(advice).to_contain_text("The price: a restart")
    expect(card).to_contain_text(INSTEAD)
    assert top(advice) < top(card.get_by_role("button", name="act", exact=True))

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    advice.get_by_role("button", name="Copy").click()
    expect(advice.get_by_role("button")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == FIRST["line"]
    assert live.errors == []


def test_a_card_without_it_has_its_switch_beside_its_title(base: str, page: Page) -> None:
    live = Live(base, page, lambda path, query: None)
    live.cards = [advised_card(conditions={**HOLDS, "first": None})]
    live.start()
    card = page.get_by_role("article", name="ShadowSync")
    expect(card.locator(".card-head")).to_have_count(1)
    expect(card.locator(".card-head").get_by_role("button", name="act")).to_be_visible()
    expect(card.locator(".advice")).to_have_count(0)
    assert INSTEAD not in card.inner_text()


def test_an_incident_says_it_once_and_before_the_technique(base: str, page: Page) -> None:
    stand_in = incident_page(base, page, [advised_card()], first=FIRST)
    card = page.get_by_role("article", name="ShadowSync")
    expect(card).to_be_visible()
    advice = page.locator(".advice")
    expect(advice).to_have_count(1)
    expect(advice.locator("code")).to_have_text(FIRST["line"])
    expect(page.get_by_text(INSTEAD)).to_have_count(1)
    assert top(advice) < top(page.get_by_text(INSTEAD)) < top(card)
    assert Axe().run(page, context="[data-remedy]").response["violations"] == []
    assert stand_in.errors == []


def test_an_incident_says_it_also_where_the_technique_is_missing(base: str, page: Page) -> None:
    incident_page(base, page, [], first=FIRST)
    expect(page.locator(".advice code")).to_have_text(FIRST["line"])
    expect(page.locator("[data-remedy]")).to_contain_text("not part of this installation")
    expect(page.get_by_text(INSTEAD)).to_have_count(0)


def test_an_incident_of_a_job_with_changelogs_has_the_card_alone(base: str, page: Page) -> None:
    incident_page(base, page, [advised_card(conditions={**HOLDS, "first": None})], first=None)
    expect(page.get_by_role("article", name="ShadowSync")).to_be_visible()
    expect(page.locator(".advice")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_all_of_the_line_is_seen_and_nothing_scrolls(base: str, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    incident_page(base, page, [advised_card()], first=FIRST)
    expect(page.locator(".advice .code")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    sizes = "pre => [pre.scrollWidth, pre.clientWidth]"
    needed, there = page.locator(".advice pre").evaluate(sizes)
    assert needed <= there

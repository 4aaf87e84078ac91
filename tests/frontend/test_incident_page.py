"""The page of an incident that the real worker found in a real Redis, on a real server."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from redis import Redis

from dashboard.testing.stack import Stack
from tests.frontend import fleet, stored_job
from tests.frontend.modules import run
from tests.frontend.static_server import Answer, StandIn, render
from tests.waiting import until

pytestmark = pytest.mark.browser

PATIENCE_S = 60
DAY_MS = 86_400_000
CHIPS = "[data-occurrences] button"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass
class Found:
    """A server, somebody logged in, and what the detector found."""

    running: Stack
    page: Page
    incident: dict[str, Any]

    def open(self, incident_id: int | None = None, query: str = "") -> Page:
        found = incident_id or self.incident["id"]
        self.page.goto(f"{self.running.url}/incidents/{found}{query}")
        expect(self.page.locator("main")).to_have_attribute("data-view", "there")
        return self.page

    def execute(self, statement: str, *values: Any) -> int:
        """In the server's own database; gives the id of a row that was added."""
        with sqlite3.connect(self.running.data_dir / "curtail.sqlite3", timeout=20) as database:
            return int(database.execute(statement, values).lastrowid or 0)

    def api(self) -> dict[str, Any]:
        path = f"{self.running.url}/api/v1/incidents/{self.incident['id']}"
        body: dict[str, Any] = self.page.request.get(path).json()
        return body


@pytest.fixture(scope="module")
def found(served: Stack, chromium: Browser) -> Iterator[Found]:
    redis = Redis.from_url(served.redis.url)
    stored_job.plant(redis, now_ms(), 90)
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, timezone_id="Europe/Berlin"
    )
    context.set_default_timeout(90_000)
    page = context.new_page()
    page.goto(served.url)
    page.get_by_label("User name").fill(served.username)
    page.get_by_label("Password").fill(served.password)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{served.url}/")

    def incident() -> Any:
        stored_job.beat(redis, now_ms())
        path = f"{served.url}/api/v1/incidents?kind=scheduled_shadowsync"
        return page.request.get(path).json()["items"]

    [item] = until(incident, timeout_s=PATIENCE_S, every_s=0.3)
    made = Found(served, page, item)
    made.execute("UPDATE dashboard_incident SET technique = 'echo' WHERE id = ?", item["id"])
    yield made
    context.close()


def drawn(page: Page) -> tuple[int, int]:
    """The range that the panels show, once they do."""
    chart = page.locator("[data-chart][data-range]")
    expect(chart).to_be_attached(timeout=90_000)
    start, end = (chart.get_attribute("data-range") or "").split("-")
    return int(start), int(end)


def test_it_shows_what_the_detector_found(found: Found) -> None:
    page, evidence = found.open(), found.incident["evidence"]
    expect(page.get_by_role("heading", level=1)).to_have_text(found.incident["title"])
    expect(page.locator("[data-standing]")).to_contain_text("Open")
    expect(page.locator("[data-standing]")).to_contain_text("above the usual")
    expect(page.locator("[data-facts]")).to_contain_text("Scheduled ShadowSync")
    expect(page.locator("[data-facts]")).to_contain_text("stage 0")
    expect(page.locator("[data-explanation]")).to_have_text(found.incident["explanation"])
    # Chances are in words.
    row = page.get_by_role("row", name="P-value: independent phases would agree")
    expect(row).to_contain_text(re.compile(r"1 in \d+"))

    # The technique against it can be switched here.
    card = page.locator("#technique-echo")
    expect(card).to_contain_text("Off.")
    expect(card.get_by_role("button", name="act", exact=True)).to_be_visible()

    last = evidence["spans_ms"][-1]
    start_ms, end_ms = drawn(page)
    assert start_ms < last[0] < last[1] < end_ms
    # Near enough that each store has a line of its own, as in the paper's Figure 7.
    heads = page.locator(".panel-head h3")
    expect(heads.filter(has_text="Compactions of each state store")).to_be_visible()
    expect(heads).to_have_count(6)
    expect(page.locator(".ytick text").filter(has_text=re.compile("^0/0$")).first).to_be_attached()
    until(lambda: int(page.locator("[data-chart]").get_attribute("data-lines") or 0) > 20)
    expect(page.locator(".occurrence[data-chosen]")).to_have_count(1)

    table = page.locator(".table-one tbody tr")
    expect(table).to_have_count(len(evidence["table"]))
    whole = [row for row in evidence["table"] if row["compactions"] == stored_job.STORES]
    expect(page.locator(".table-one tr[data-occurrence]")).to_have_count(len(whole))


def test_an_occurrence_moves_the_panels_and_is_in_the_address(found: Found) -> None:
    page = found.open()
    before = drawn(page)
    spans = found.incident["evidence"]["spans_ms"]
    expect(page.locator(CHIPS)).to_have_count(len(spans))
    page.locator(CHIPS).first.click()
    assert not before[0] < spans[0][0] < before[1]
    until(lambda: drawn(page)[0] < spans[0][0] and spans[0][1] < drawn(page)[1])
    start_ms, _ = drawn(page)
    expect(page).to_have_url(re.compile(f"at={spans[0][0]}"))

    page.keyboard.press("n")
    expect(page.locator(CHIPS).nth(1)).to_have_attribute("aria-pressed", "true")
    until(lambda: drawn(page)[0] < spans[1][0] < drawn(page)[1] and drawn(page)[0] > start_ms)
    page.keyboard.press("+")
    until(lambda: drawn(page)[1] - drawn(page)[0] < 4_000)
    page.get_by_role("button", name="All 9", exact=True).click()
    expect(page.locator(".panel-head")).to_have_count(9)

    page.reload()
    expect(page.locator(CHIPS).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".panel-head")).to_have_count(9)
    page.locator(".table-one button").last.click()
    last_ms = found.incident["evidence"]["table"][-1]["checkpoint_ms"]
    until(lambda: drawn(page)[0] < last_ms < drawn(page)[1])


def test_the_console_stays_empty(found: Found) -> None:
    said: list[str] = []
    listen = lambda message: said.append(message.text)  # noqa: E731 - to be taken off again
    found.page.on("console", listen)
    page = found.open()
    expect(page.locator("[data-chart][data-zoomable]")).to_be_attached(timeout=90_000)
    found.page.remove_listener("console", listen)
    assert said == []


def test_the_choice_of_panels_counts_those_that_the_job_has(found: Found) -> None:
    page = found.open()
    shown, all_of_them = (
        page.locator(f"[data-panels-choice] [value={which}]") for which in ("kind", "all")
    )
    expect(shown).to_have_text("The 6 that matter")
    expect(page.locator(".panel-head")).to_have_count(6)
    expect(all_of_them).to_have_text("All 9")
    all_of_them.click()
    expect(page.locator(".panel-head")).to_have_count(9)


def test_when_its_windows_are_gone_it_says_so_and_shows_no_empty_chart(found: Found) -> None:
    long_ago_ms = found.incident["onset_ms"] - DAY_MS
    evidence = {**found.incident["evidence"], "spans_ms": [[long_ago_ms, long_ago_ms + 500]]}
    page = found.open(_copy(found, onset_ms=long_ago_ms, evidence=json.dumps(evidence)))
    expect(page.locator("[data-gone]")).to_contain_text("no longer kept", timeout=90_000)
    expect(page.locator("[data-chart]")).to_be_hidden()
    expect(page.locator(".table-one")).to_be_visible()


def _copy(found: Found, **changes: Any) -> int:
    """A resolved incident like the one found."""
    columns = {
        "job_id": stored_job.JOB,
        **{name: found.incident[name] for name in ("kind", "title", "severity", "onset_ms")},
        "state": "resolved",
        "end_ms": now_ms(),
        "occurrences": 1,
        "explanation": "A copy.",
        "technique": "",
        "evidence": json.dumps(found.incident["evidence"]),
        "acknowledged_by": "",
        **changes,
    }
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    statement = f"INSERT INTO dashboard_incident ({names}) VALUES ({marks})"
    return found.execute(statement, *columns.values())


def test_it_fits_a_phone_and_axe_finds_nothing(found: Found) -> None:
    page = found.page
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/incidents", f"/incidents/{found.incident['id']}"):
        page.goto(f"{found.running.url}{path}")
        expect(page.locator("main")).not_to_have_attribute("data-view", "loading")
        if path != "/incidents":
            drawn(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        assert _violations(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="dark")
    assert _violations(page) == []
    page.emulate_media(color_scheme="light")


def _violations(page: Page) -> list[str]:
    return [each["id"] for each in Axe().run(page).response["violations"]]


def test_the_list_is_filtered_and_leads_to_the_page(found: Found) -> None:
    page = found.page
    page.goto(f"{found.running.url}/incidents")
    rows = page.locator("[data-rows] tr")
    expect(rows.first).to_be_visible()
    page.get_by_label("State").select_option("open")
    page.get_by_label("Kind").select_option("scheduled_shadowsync")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("state=open&kind=scheduled_shadowsync"))
    rows.get_by_role("link", name=found.incident["title"]).click()
    expect(page).to_have_url(f"{found.running.url}/incidents/{found.incident['id']}")
    page.goto(f"{found.running.url}/incidents?kind=straggler")
    expect(page.get_by_text("No incident matches.")).to_be_visible()


def test_an_operator_acknowledges_and_resolves_it(found: Found) -> None:
    page = found.open()
    page.get_by_role("button", name="Acknowledge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("looking at it")
    page.keyboard.press("Enter")
    expect(page.locator("[data-standing]")).to_contain_text("Acknowledged by operator")
    page.get_by_role("button", name="Resolve").click()
    dialog.get_by_role("button", name="Resolve").click()
    expect(page.locator("[data-standing]")).to_contain_text("Resolved")
    expect(page.locator("[data-acts] button")).to_have_count(0)
    expect(page.locator("[data-facts]")).to_contain_text("End")
    until(lambda: found.api()["state"] == "resolved")
    page.goto(f"{found.running.url}/audit?action=incident")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_text("looking at it")).to_be_visible()


def test_who_may_only_look_sees_no_buttons_and_a_server_that_is_away_is_said(
    base: str, page: Page
) -> None:
    item = fleet.incident(7, now_ms() - 60_000, technique=None)
    answers: dict[str, Any] = {"/incidents/7": item}
    nothing = Answer(503, {"title": "Redis does not answer", "status": 503})
    stand_in = StandIn(base, page, lambda path, query: answers.get(path, nothing))
    job = SimpleNamespace(id="a.b", application="a", query="b")
    known = SimpleNamespace(pk=7, **{name: item[name] for name in ("title", "state", "severity")})
    html = render("incident.html", {"incident": known, "job": job, "role": "viewer"})
    stand_in.open("/incidents/7", html)
    expect(page.locator("[data-standing]")).to_contain_text("Open")
    # Without facts of a detector, whatever evidence there is.
    expect(page.get_by_role("row", name="compactions at once")).to_contain_text("4")
    expect(page.locator("[data-acts] button")).to_have_count(0)
    expect(page.locator("[data-chart-note]")).to_contain_text("could not be loaded")
    answers["/incidents/7"] = nothing
    page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')) }")
    expect(page.get_by_role("alert").first).to_contain_text("what was last heard")
    assert stand_in.errors == []


def test_its_card_listens_to_the_job_while_somebody_waits(base: str, page: Page) -> None:
    item = fleet.incident(7, now_ms() - 60_000, technique="echo")
    asked = {"mode": "act", "state": "asked", "document_version": 4, "computed_ms": 1}
    answers: dict[str, Any] = {
        "/incidents/7": item,
        "/jobs/a.b/techniques": {"items": [fleet.card("echo", title="Echo", **asked)]},
    }
    nothing = Answer(503, {"title": "Redis does not answer", "status": 503})
    stand_in = StandIn(base, page, lambda path, query: answers.get(path, nothing))
    job = SimpleNamespace(id="a.b", application="a", query="b")
    known = SimpleNamespace(pk=7, **{name: item[name] for name in ("title", "state", "severity")})
    html = render("incident.html", {"incident": known, "job": job, "role": "operator"})
    stand_in.open("/incidents/7", html)
    card = page.locator("#technique-echo")
    expect(card).to_have_attribute("data-state", "asked")
    stand_in.until(lambda: len(stand_in.sockets) == 1)

    told = {"mode": "act", "state": "applied", "version": 4, "because": ""}
    held = {"version": 4, "settled": True, "techniques": {"echo": told}}
    stand_in.send({"type": "windows", "seq": 1, "t": [], "asked": held})
    expect(card).to_have_attribute("data-state", "applied")
    assert stand_in.errors == []


def test_a_technique_that_is_not_here_is_said_to_be_missing(blank: Page) -> None:
    words = run(
        blank,
        "incident/remedy",
        """const says = (technique, cards) =>
          m.remedy(technique, cards).map((node) => node.textContent).join(" ");
        return [says(null, null), says("telepathy", []), says("echo", null),
                says("echo", [{ name: "echo" }])];""",
    )
    assert "None of the techniques addresses this kind" in words[0]
    assert "telepathy is the technique against this. It is not part of this install" in words[1]
    assert "Looking for" in words[2]
    assert words[3] == ""


def test_a_chance_in_words(blank: Page) -> None:
    words = run(
        blank,
        "incident/evidence",
        """return [0.7, 0.04, 0.00031, 3.7e-6, 8e-8, 2e-10, 0, NaN].map(m.odds)
          .concat([0.00031, 3.7e-6, 0].map(m.chance));""",
    )
    assert words == [
        "as likely as not",
        "1 in 25",
        "1 in 3200",
        "1 in 270\u202f000",
        "1 in 13 million",
        "1 in 5 billion",
        "less than 1 in a trillion",
        "not known",
        "1 in 3200 (p = 0.00031)",
        "1 in 270\u202f000 (p = 3.7 × 10⁻⁶)",
        "less than 1 in a trillion",
    ]


def test_the_view_around_an_occurrence(blank: Page) -> None:
    ranges = run(
        blank,
        "chart/zoomed",
        "return [[10_000, 10_400], [0, 12_000], [0, 120_000]].map((span) => m.around(span));",
    )
    # A short one with what leads to it and follows; a long one nearly fills the view.
    assert ranges == [[8_000, 13_900], [-6_000, 18_000], [-6_000, 126_000]]

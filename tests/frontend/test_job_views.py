"""What a user does with the job page beyond watching it: jump, compare, incidents, techniques."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend import fleet
from tests.frontend.live import JOB, Live, chart, now_ms, until_live, wait_for_chart
from tests.frontend.static_server import Answer

pytestmark = pytest.mark.browser


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def test_the_address_reproduces_the_view(live: Live, page: Page) -> None:
    live.ended_ms = now_ms() // 1000 * 1000
    end_ms = live.ended_ms - 60_000
    query = f"?from={end_ms - 8000}&to={end_ms}&span=60000&scale=linear&latency=committed&hide=p50"
    live.start(query)
    wait_for_chart(page)
    assert page.url.endswith(query)
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.get_by_role("button", name="Linear")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Committed")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".series").first).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_label("Span")).to_have_value("60000")
    # Eight seconds across: single flushes are lines of their own.
    expect(page.locator(".panel-head", has_text="Flushes of each state store")).to_be_visible()
    csv = page.locator("[data-csv]").get_attribute("href") or ""
    assert f"windows.csv?start_ms={end_ms - 8000}&end_ms={end_ms}" in csv


def test_a_jump_beyond_the_live_ring_is_fetched(live: Live, page: Page) -> None:
    live.history_ms = 3_600_000
    live.start()
    wait_for_chart(page)
    at_ms = (now_ms() - 2_400_000) // 1000 * 1000
    text = page.evaluate(
        "async (ms) => (await import('/static/curtail/js/core/times.js')).toField(ms, 'local')",
        at_ms,
    )
    with page.expect_request("**/windows?*") as fetch:
        page.get_by_label("Jump to").fill(text)
    start_ms = int(re.findall(r"start_ms=(\d+)", fetch.value.url)[0])
    assert start_ms == at_ms - 450_000
    expect(page).to_have_url(re.compile(f"from={at_ms - 150_000}"))
    expect(page.locator("[data-chart-note]")).to_be_hidden()
    page.get_by_role("button", name="Live").click()
    until_live(live)
    expect(page).not_to_have_url(re.compile("from="))


def test_the_keyboard_zooms_pans_and_explains_itself(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)

    def shown() -> tuple[int, int]:
        # As the page has it: the browser tells us of a new address a moment later.
        found = re.search(r"from=(\d+)&to=(\d+)", page.evaluate("() => location.search"))
        assert found
        return int(found[1]), int(found[2])

    page.keyboard.press("+")
    first = shown()
    assert first[1] - first[0] == 150_000
    page.keyboard.press("ArrowLeft")
    assert first[0] - shown()[0] == pytest.approx(37_500, abs=1)
    page.keyboard.press("-")
    assert shown()[1] - shown()[0] == pytest.approx(300_000, abs=1)
    page.keyboard.press("End")
    expect(page).not_to_have_url(re.compile("from="))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys and gestures")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_incident_is_marked_and_opens_beside_the_chart(live: Live, page: Page) -> None:
    onset_ms = now_ms() - 60_000
    live.incidents = [
        fleet.incident(4, onset_ms - 90_000, "resolved", title="Backlog grew"),
        fleet.incident(7, onset_ms, explanation="<b>four</b> stores compact at once"),
    ]
    live.start()
    wait_for_chart(page)
    expect(page.get_by_role("button", name="2 incidents, 1 open")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Incident: Compactions start together")).click()
    panel = page.get_by_role("complementary", name="Incidents")
    expect(panel).to_contain_text("<b>four</b> stores compact at once")
    expect(page).to_have_url(re.compile("incident=7"))
    link = panel.get_by_role("link", name="All of it").get_attribute("href") or ""
    assert link.endswith("/incidents/7")
    panel.get_by_label("Reason").fill("known")
    # The page looked the same before: only the answer tells that it was asked.
    with page.expect_response("**/incidents/7/acknowledge"):
        panel.get_by_role("button", name="Acknowledge").click()
    expect(page.locator(".incident-state").first).to_be_visible()
    assert ("POST", "/incidents/7/acknowledge", {"reason": "known"}) in live.changes
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("incident=4"))
    expect(chart(page)).to_have_attribute("data-state", "paused")


def test_a_server_without_incidents_and_techniques_shows_neither(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(page.locator("[data-incidents-button]")).to_be_hidden()
    expect(page.locator("[data-techniques]")).to_be_hidden()
    assert live.errors == []


def test_two_ranges_are_compared_in_a_table_and_a_figure(live: Live, page: Page) -> None:
    began_ms = now_ms()
    live.distributions = lambda start_ms, which: fleet.distribution(
        2 if start_ms < began_ms - 310_000 else 1
    )
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Compare", exact=True).first.click()
    rows = page.locator("[data-compare-rows] tr")
    expect(rows.filter(has_text="p99.9")).to_contain_text("×0.500")
    expect(rows.filter(has_text="records")).to_contain_text("×1.00")
    expect(page.locator("[data-cdf] .js-line")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"a=\d+-\d+&b=\d+-\d+"))
    page.get_by_role("button", name="Close").first.click()
    expect(page.locator("[data-compare]")).to_be_hidden()
    expect(page).not_to_have_url(re.compile(r"latency=.*a="))
    assert live.errors == []


def test_a_server_that_cannot_compare_says_so(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.keyboard.press("c")
    expect(page.locator("[data-compare-note]")).to_contain_text("does not offer distributions")


def test_the_chart_is_saved_as_a_picture(live: Live, page: Page, tmp_path: Path) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert re.match(r"traffic-jam\.ranking .*Z\.png$", download.value.suggested_filename)
    path = tmp_path / "chart.png"
    download.value.save_as(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 50_000
    assert live.errors == []


def test_a_technique_is_switched_after_a_look_at_what_will_change(live: Live, page: Page) -> None:
    live.cards = fleet.cards(now_ms())
    put = fleet.card("flush-spread", title="Spread flushes", mode="act", state="applied", version=4)
    answer = live.answer

    def change(path: str, query: dict[str, str]) -> Any:
        return put if path.endswith("/techniques/flush-spread") else answer(path, query)

    live.answer = change  # type: ignore[method-assign]
    live.start()
    card = page.get_by_role("article", name="Spread flushes")
    expect(card).to_contain_text("waiting for the job to answer")
    card.get_by_role("button", name="act").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("changes the running job by itself")
    dialog.get_by_label("Longest delay").fill("1500")
    dialog.get_by_label("Reason").fill("try it")
    live.cards[1] = put
    dialog.get_by_role("button", name="Switch to act").click()
    expect(card).to_contain_text("“act” asked → applied.")
    assert live.changes == [
        (
            "PUT",
            f"/jobs/{JOB.id}/techniques/flush-spread",
            {
                "mode": "act",
                "options": {"most_delay_ms": 1500, "idle_only": True},
                "reason": "try it",
                "version": 3,
            },
        )
    ]


def test_a_technique_that_somebody_else_changed_is_not_overwritten(live: Live, page: Page) -> None:
    current = fleet.card(mode="advise", state="applied", by="tomas", version=9)
    live.cards = [fleet.card()]
    answer = live.answer

    def conflict(path: str, query: dict[str, str]) -> Any:
        if not path.endswith("/techniques/compaction-delay"):
            return answer(path, query)
        return Answer(409, {"title": "Changed meanwhile", "status": 409, "current": current})

    live.answer = conflict  # type: ignore[method-assign]
    live.start()
    page.get_by_role("article").get_by_role("button", name="act").click()
    page.get_by_role("button", name="Switch to act").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
        "tomas set it to “advise”"
    )
    # The alert of the first refusal is still there: only the answer tells that it was asked again.
    with page.expect_response(lambda response: response.status == 409):
        page.get_by_role("button", name="Switch to act").click()
    assert [body["version"] for _, _, body in live.changes] == [3, 9]


def test_a_viewer_sees_the_mode_and_no_buttons(live: Live, page: Page) -> None:
    live.role = "viewer"
    live.cards = fleet.cards(now_ms())
    live.incidents = [fleet.incident(7, now_ms() - 60_000)]
    live.start("?incident=7")
    card = page.get_by_role("article", name="Delayed compactions")
    expect(card.locator(".card-mode")).to_have_text("act")
    expect(card.get_by_role("button")).to_have_count(0)
    expect(card).to_contain_text("×0.385 (0.360 to 0.410)")
    expect(page.get_by_role("complementary")).to_contain_text("four state stores")
    expect(page.get_by_role("button", name="Acknowledge")).to_have_count(0)


def test_everything_open_at_once_fits_a_narrow_screen(live: Live, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    live.cards = fleet.cards(now_ms())
    live.incidents = [fleet.incident(7, now_ms() - 60_000)]
    live.distributions = lambda start_ms, which: fleet.distribution()
    now = now_ms()
    live.start(f"?incident=7&a={now - 20_000}-{now - 10_000}&b={now - 10_000}-{now}")
    wait_for_chart(page)
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.locator("[data-compare-rows] tr")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

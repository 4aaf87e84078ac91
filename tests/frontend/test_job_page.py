import json
import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.frontend import synthetic
from tests.frontend.standin import Answer, StandIn, render
from tests.waiting import until

pytestmark = pytest.mark.browser

JOB = SimpleNamespace(id="traffic-jam.ranking", application="traffic-jam", query="ranking")
# How long after its end a window is on the wire.
BEHIND_MS = 500


def now_ms() -> int:
    return int(time.time() * 1000)


class Live(StandIn):
    """A job page whose job runs: history over REST, then batches whenever `flow` is called."""

    seq = 0
    sent_ms = 0
    source = "record"
    job_state = "running"
    losses: dict[str, int] = {}  # noqa: RUF012 - replaced, never changed
    ended_ms: int | None = None

    def start(self) -> None:
        self.api = self.answer
        self.on_socket = self.greet
        self.open(f"/jobs/{JOB.id}", render("job.html", {"job": JOB}))

    def answer(self, path: str, query: dict[str, str]) -> Any:
        if path == f"/jobs/{JOB.id}":
            return synthetic.job(self.job_state, last_seen_ms=self.edge_ms())
        if path == f"/jobs/{JOB.id}/activities":
            return {"items": synthetic.activities(int(query["start_ms"]), int(query["end_ms"]))}
        assert path == f"/jobs/{JOB.id}/windows"
        assert int(query["end_ms"]) - int(query["start_ms"]) <= 15 * 60 * 1000
        end_ms = min(int(query["end_ms"]), self.edge_ms())
        self.sent_ms = max(self.sent_ms, end_ms)
        return self.windows(int(query["start_ms"]), end_ms)

    def windows(self, start_ms: int, end_ms: int) -> Any:
        return synthetic.windows(start_ms, end_ms, source=self.source, **self.losses)

    def edge_ms(self) -> int:
        return self.ended_ms or now_ms() - BEHIND_MS

    def greet(self, socket: WebSocketRoute) -> None:
        self.seq = 0
        socket.send(json.dumps({"type": "hello", "seq": 0, "now_ms": now_ms()}))

    def flow(self, *, skip: int = 0) -> None:
        """Sends what has come since the last call; `skip` batches are lost before it."""
        end_ms = self.edge_ms()
        self.seq += 1 + skip
        self.send({"type": "windows", "seq": self.seq, **self.windows(self.sent_ms, end_ms)})
        self.sent_ms = end_ms

    def fetches(self) -> int:
        return sum("/windows?" in request for request in self.requests)


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def chart(page: Page) -> Locator:
    return page.locator("[data-chart]")


def drawn(page: Page) -> int:
    return int(chart(page).get_attribute("data-drawn") or 0)


def wait_for_chart(page: Page) -> None:
    expect(page.locator("[data-chart]:not([data-drawn='0'])")).to_be_attached()


def flow_until(live: Live, reached: Callable[[], bool]) -> None:
    """A batch as soon as 250 ms of windows have come, until something has happened."""
    for _ in range(60):
        if reached():
            return
        until(lambda: live.edge_ms() - live.sent_ms >= 250)
        live.flow()
        last_ms = (live.sent_ms - 1) // synthetic.WINDOW_MS * synthetic.WINDOW_MS
        expect(chart(live.page)).to_have_attribute("data-last-window-ms", str(last_ms))
    raise AssertionError("not reached in 60 batches")


def flow_for(live: Live, seconds: float) -> None:
    """Long enough for a page that would redraw to have done so."""
    end_s = time.monotonic() + seconds
    flow_until(live, lambda: time.monotonic() > end_s)


def test_it_draws_what_the_job_sends_and_goes_on(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(chart(page)).to_have_attribute("data-state", "live")
    before = drawn(page)
    flow_until(live, lambda: drawn(page) >= before + 3)
    held = int(chart(page).get_attribute("data-points") or 0)
    assert 17_000 < held <= 18_000
    # What the live batches brought has joined what was fetched.
    assert int(chart(page).get_attribute("data-last-window-ms") or 0) > live.sent_ms - 100
    expect(page.locator("[data-status-word]")).to_have_text("Live")
    assert live.fetches() == 1
    assert live.errors == []


def test_the_frame_of_the_page_does_not_wait_for_the_chart(live: Live, page: Page) -> None:
    page.route("**/plotly.min.js", lambda route: route.abort())
    live.start()
    expect(page.locator(".facts")).to_contain_text("driver.spark.internal")
    expect(page.locator(".stat-p50 .unit")).to_have_text("ms")
    expect(page.locator("[data-chart-note]")).to_contain_text("The chart could not be loaded")


def test_no_more_than_four_redraws_a_second(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    before, began = drawn(page), time.monotonic()
    flow_for(live, 2)
    assert drawn(page) - before <= 4 * (time.monotonic() - began) + 1


def test_space_pauses_and_follows_again(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.keyboard.press("Space")
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.get_by_role("button", name="Pause")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-span]").focus()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Follow").click()
    expect(chart(page)).to_have_attribute("data-state", "live")


def test_a_paused_chart_holds_still_while_data_comes(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    expect(chart(page)).to_have_attribute("data-state", "paused")
    flow_for(live, 1)  # the redraw for the pause itself
    before = drawn(page)
    flow_for(live, 1)
    assert drawn(page) == before


def test_a_drag_zooms_both_panels_and_pauses_and_a_double_click_follows(
    live: Live, page: Page
) -> None:
    live.start()
    wait_for_chart(page)
    box = chart(page).bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] * 0.3
    page.mouse.move(box["x"] + 500, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 800, middle, steps=5)
    page.mouse.up()
    expect(chart(page)).to_have_attribute("data-state", "paused")
    # A fifth of five minutes: the marks are ten seconds apart in the one axis of both panels.
    expect(page.locator(".xtick text").filter(has_text=":10").first).to_be_attached()
    page.mouse.dblclick(box["x"] + 600, middle)
    expect(chart(page)).to_have_attribute("data-state", "live")


def test_a_click_on_a_number_shows_the_window_it_came_from(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    before = drawn(page)
    page.locator(".stat-p999 button").click()
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.locator(f"[data-chart]:not([data-drawn='{before}'])")).to_be_attached()
    # Five seconds across: the marks are half seconds, and say so.
    expect(page.locator(".xtick text").filter(has_text=".500").first).to_be_attached()


def test_a_lost_connection_is_said_and_its_gap_is_filled_once(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    live.flow()

    def hang_up(socket: WebSocketRoute) -> None:
        socket.close(code=1011)

    live.on_socket = hang_up
    live.sockets[-1].close(code=1012)
    expect(chart(page)).to_have_attribute("data-state", "reconnecting")
    expect(page.locator(".facts")).to_contain_text("was running")
    fetched = live.fetches()
    live.on_socket = live.greet
    expect(chart(page)).to_have_attribute("data-state", "live")
    expect(page.locator(".facts")).not_to_contain_text("was running")
    assert live.fetches() == fetched + 1


def test_a_skipped_batch_is_fetched_and_leaves_no_hole(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    flow_for(live, 0.5)
    held_until = live.sent_ms
    until(lambda: live.edge_ms() - live.sent_ms >= 250)
    live.sent_ms = live.edge_ms()  # this batch is lost
    until(lambda: live.edge_ms() - live.sent_ms >= 250)
    live.send({"type": "behind", "skipped": 1})
    with page.expect_request("**/windows?*") as fetch:
        live.flow(skip=1)
    start_ms = int(fetch.value.url.split("start_ms=")[1].split("&")[0])
    assert held_until - 2 * synthetic.WINDOW_MS <= start_ms <= held_until
    expect(chart(page)).to_have_attribute("data-state", "live")
    flow_for(live, 1)
    assert live.fetches() == 2


def test_silence_is_never_shown_as_live(live: Live, page: Page) -> None:
    live.ended_ms = now_ms() - 12_000
    live.job_state = "stale"
    live.start()
    wait_for_chart(page)
    expect(chart(page)).to_have_attribute("data-state", "stale")
    expect(page.locator("[data-status-word]")).to_have_text("No frames")
    expect(page.locator("[data-status-detail]")).to_contain_text("for 1")
    expect(page.locator("[data-status]")).to_have_attribute("data-tone", "warn")
    expect(page.locator("[data-stats-caption]")).to_contain_text("of the 10 s before")


def test_a_job_that_stopped_long_ago_shows_its_last_minutes(live: Live, page: Page) -> None:
    live.ended_ms = now_ms() - 7_200_000
    live.job_state = "stopped"
    live.start()
    wait_for_chart(page)
    expect(page.locator("[data-status-word]")).to_have_text("Stopped")
    assert int(chart(page).get_attribute("data-points") or 0) > 17_000


def test_batch_level_latency_says_how_to_get_more(live: Live, page: Page) -> None:
    live.source = "batch"
    live.start()
    expect(page.locator("[data-batch-level]")).to_contain_text("batch-level")
    expect(page.locator("[data-batch-level]")).to_contain_text("stamp(")


def test_record_level_latency_says_nothing_of_it(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(page.locator("[data-batch-level]")).to_be_hidden()
    expect(page.locator("[data-health]")).to_be_hidden()


def test_what_the_collector_lost_is_said(live: Live, page: Page) -> None:
    live.losses = {"dropped": 12, "unreadable": 3}
    live.start()
    expect(page.locator("[data-health]")).to_contain_text("12 frames dropped")
    expect(page.locator("[data-health]")).to_contain_text("3 entries that could not be read")
    expect(page.locator("[data-health]")).not_to_contain_text("late")


def test_the_cursor_reads_out_the_window_under_it(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    box = chart(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 700, box["y"] + 100)
    values = page.locator("[data-latency-legend] .legend-value")
    expect(values.nth(0)).to_contain_text("ms")
    expect(page.locator("[data-host-legend] .legend-value").first).to_contain_text("%")
    expect(page.locator("[data-latency-legend] .legend-time")).to_contain_text(".")
    page.mouse.move(0, 0)
    expect(values.nth(0)).to_have_text("")


def test_every_panel_is_there_on_one_time_axis(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    for title in (
        "Latency",
        "Host CPU",
        "Flushes at once",
        "Compactions at once",
        "GC pauses",
        "Backlog, rows",
    ):
        expect(page.locator(".annotation-text", has_text=title)).to_have_count(1)
    expect(page.locator(".xaxislayer-above, .xaxislayer-below").first).to_be_attached()
    expect(page.locator(".xtitle")).to_have_count(1)
    # Two operators flush, one compacts, and every pause is in one path.
    expect(page.locator(".subplot.xy3 .js-line")).to_have_count(2)
    expect(page.locator(".subplot.xy4 .js-line")).to_have_count(1)
    expect(page.locator(".shapelayer path")).to_have_count(1)


def test_hiding_every_series_keeps_the_panels(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    for item in page.locator(".legend-item").all():
        item.click()
        expect(item).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".cartesianlayer > .subplot")).to_have_count(6)
    for panel in ("xy", "xy2"):
        expect(page.locator(f".subplot.{panel} .js-line")).to_have_count(0)
    assert live.errors == []


def test_windows_are_dotted_where_there_is_room_in_one_element_per_series(
    live: Live, page: Page
) -> None:
    """A thousand markers, an element each, made a redraw three times as long."""
    live.start()
    wait_for_chart(page)
    # One path is that of the GC pauses.
    expect(page.locator(".shapelayer path")).to_have_count(1)
    page.get_by_label("Span").select_option("60000")
    expect(page.locator(".shapelayer path")).to_have_count(5)


def test_times_switch_to_utc(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(page.locator(".xtitle")).to_have_text(re.compile("^CES?T$"))
    page.get_by_role("button", name="UTC").click()
    expect(page.locator(".xtitle")).to_have_text("UTC")
    expect(page.locator(".facts")).to_contain_text("UTC")


def test_a_hidden_tab_draws_nothing_and_refills_on_return(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    flow_for(live, 0.5)  # a redraw that had begun
    before, fetched = drawn(page), live.fetches()
    flow_for(live, 1)
    assert drawn(page) == before
    page.evaluate(hide, False)
    expect(page.locator(f"[data-chart]:not([data-drawn='{before}'])")).to_be_attached()
    assert live.fetches() == fetched + 1


def test_a_job_that_the_server_does_not_know_is_said_so(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    live.sockets[-1].close(code=4404)
    expect(page.get_by_role("alert")).to_contain_text("no job “traffic-jam.ranking”")
    expect(page.locator("[data-status-word]")).to_have_text("Unknown job")


def test_an_ended_session_leads_to_the_login_and_back(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    live.api = lambda path, query: Answer(401, {"title": "Not logged in", "status": 401})
    live.sockets[-1].close(code=4401)
    page.wait_for_url("**/login?next=%2Fjobs%2Ftraffic-jam.ranking")


def test_nothing_overflows_a_narrow_screen(live: Live, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    live.source = "batch"
    live.losses = {"dropped": 12, "late": 3400, "unreadable": 3}
    live.start()
    wait_for_chart(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

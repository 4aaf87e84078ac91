import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.frontend import fleet, synthetic
from tests.frontend.live import (
    Live,
    chart,
    flow_for,
    flow_until,
    flow_until_still,
    now_ms,
    until_live,
    wait_for_all,
    wait_for_chart,
)
from tests.frontend.static_server import Answer
from tests.waiting import until

pytestmark = pytest.mark.browser


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def held(page: Page) -> int:
    return int(chart(page).get_attribute("data-points") or 0)


def inked(page: Page, left: int, right: int) -> int:
    """How many pixels of the canvas between two columns have been painted."""
    found: int = page.locator("canvas[data-lines]").evaluate(
        """(canvas, [left, right]) => {
          const context = canvas.getContext("2d");
          const { data } = context.getImageData(left, 0, right - left, canvas.height);
          return data.filter((value, i) => i % 4 === 3 && value > 0).length;
        }""",
        [left, right],
    )
    return found


def test_it_draws_what_the_job_sends_and_goes_on(live: Live, page: Page) -> None:
    live.history_ms = 3_600_000
    live.start()
    wait_for_chart(page)
    until_live(live)
    before = live.drawn()
    flow_until(live, lambda: live.drawn() >= before + 3 and held(page) > 17_000)
    assert held(page) <= 18_000
    # What the live batches brought has joined what was fetched.
    assert live.last_window_ms() > live.sent_ms - 100
    expect(page.locator("[data-status-word]")).to_have_text("Live")
    # What is in view, what came until the connection stood, and what is older: no window twice.
    ranges = sorted(live.fetched())
    assert len(ranges) == 3
    assert ranges[0][1] == ranges[1][0]
    assert ranges[2][0] - ranges[1][1] <= 0
    assert live.errors == []


def test_the_console_stays_empty(live: Live, page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    live.incidents, live.cards = [], []
    live.distributions = lambda start_ms, which: fleet.distribution()
    live.start()
    wait_for_chart(page)  # Plotly is there, with all that it does while it loads
    page.keyboard.press("c")
    expect(page.locator("[data-cdf] .main-svg").first).to_be_visible()
    assert said == []


def test_a_run_that_warms_up_says_so_beside_its_state(live: Live, page: Page) -> None:
    live.warming_up = True
    live.start()
    state = page.locator("[data-facts] .state")
    expect(state).to_have_text("runningwarming up")
    live.warming_up = False
    page.reload()
    expect(state).to_have_text("running")


def test_the_chart_does_not_wait_for_plotly_and_does_without_it(live: Live, page: Page) -> None:
    page.route("**/plotly.min.js", lambda route: route.abort())
    live.start()
    expect(page.locator(".facts")).to_contain_text("driver.spark.internal")
    until_live(live)
    expect(page.locator(".stat-p50 .unit")).to_have_text("ms")
    expect(page.locator(".panel-head")).to_have_count(9)
    # The panels, and left of them the labels of their axes.
    until(lambda: inked(page, 62, 1000) > 10_000)
    until(lambda: inked(page, 0, 58) > 200)
    page.keyboard.press("+")
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.locator("[data-chart-caption]")).to_contain_text("could not be loaded")
    expect(chart(page)).not_to_have_attribute("data-zoomable", "")


def test_no_more_than_five_redraws_a_second(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    before, began = live.drawn(), time.monotonic()
    flow_for(live, 2)
    assert live.drawn() - before <= 5.5 * (time.monotonic() - began) + 1


def test_space_pauses_and_follows_again(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.keyboard.press("Space")
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.get_by_role("button", name="Pause")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-span]").focus()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Live").click()
    until_live(live)


def test_a_paused_chart_holds_still_while_data_comes(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    expect(chart(page)).to_have_attribute("data-state", "paused")
    flow_until_still(live)


def test_a_drag_zooms_all_panels_and_pauses_and_a_double_click_follows(
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
    # A fifth of five minutes: the marks are ten seconds apart in the one axis of all panels.
    expect(page.locator(".xtick text").filter(has_text=":10").first).to_be_attached()

    def followed() -> bool:
        if chart(page).get_attribute("data-state") == "live":
            return True
        # Two clicks that a busy machine delivers too far apart are no double click.
        page.mouse.dblclick(box["x"] + 600, middle)
        return False

    flow_until(live, followed)


def test_a_click_on_a_number_shows_the_window_it_came_from(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    before = live.drawn()
    page.locator(".stat-p999 button").click()
    expect(chart(page)).to_have_attribute("data-state", "paused")
    expect(page.locator(f"[data-chart]:not([data-drawn='{before}'])")).to_be_attached()
    # Five seconds across: the marks are half seconds, and say so.
    expect(page.locator(".xtick text").filter(has_text=".500").first).to_be_attached()


def test_a_lost_connection_is_said_and_its_gap_is_filled_once(live: Live, page: Page) -> None:
    live.start()
    wait_for_all(live)
    live.flow()

    def hang_up(socket: WebSocketRoute) -> None:
        socket.close(code=1011)

    live.on_socket = hang_up
    live.sockets[-1].close(code=1012)
    expect(chart(page)).to_have_attribute("data-state", "reconnecting")
    expect(page.locator(".facts")).to_contain_text("was running")
    fetched = live.fetches()
    live.on_socket = live.greet
    expect(chart(page)).to_have_attribute("data-state", "live", timeout=90_000)
    expect(page.locator(".facts")).not_to_contain_text("was running")
    assert live.fetches() == fetched + 1


def test_a_skipped_batch_is_fetched_and_leaves_no_hole(live: Live, page: Page) -> None:
    live.start()
    wait_for_all(live)
    flow_for(live, 0.5)
    fetched = live.fetches()
    held_until = live.sent_ms
    until(lambda: live.edge_ms() - live.sent_ms >= 250)
    live.sent_ms = live.edge_ms()  # this batch is lost
    until(lambda: live.edge_ms() - live.sent_ms >= 250)
    live.send({"type": "behind", "skipped": 1})
    with page.expect_request("**/windows?*") as fetch:
        live.flow(skip=1)
    start_ms = int(fetch.value.url.split("start_ms=")[1].split("&")[0])
    assert held_until - 2 * synthetic.WINDOW_MS <= start_ms <= held_until
    until_live(live)
    flow_for(live, 1)
    assert live.fetches() == fetched + 1


def test_silence_is_never_shown_as_live(live: Live, page: Page) -> None:
    live.ended_ms = now_ms() - 12_000
    live.job_state = "stale"
    live.start()
    wait_for_chart(page)
    expect(chart(page)).to_have_attribute("data-state", "stale")
    expect(page.locator("[data-status-word]")).to_have_text("No frames")
    expect(page.locator("[data-status-detail]")).to_have_text(re.compile(r"for \d+ s"))
    expect(page.locator("[data-status]")).to_have_attribute("data-tone", "warn")
    expect(page.locator("[data-stats-caption]")).to_contain_text("of the 10 s before")


def test_a_job_that_stopped_long_ago_shows_its_last_minutes(live: Live, page: Page) -> None:
    live.ended_ms = now_ms() - 7_200_000
    live.history_ms = 3_600_000
    live.job_state = "stopped"
    live.start()
    wait_for_chart(page)
    expect(page.locator("[data-status-word]")).to_have_text("Stopped")
    until(lambda: held(page) > 17_000)


def test_batch_level_latency_says_how_to_get_more(live: Live, page: Page) -> None:
    live.source = "batch"
    live.start()
    expect(page.locator("[data-batch-level]")).to_contain_text("batch-level")
    expect(page.locator("[data-batch-level]")).to_contain_text("stamp(")


def test_record_level_latency_says_nothing_of_it(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(page.locator("[data-batch-level]")).to_be_hidden()
    expect(page.locator("[data-health]")).to_have_text("Collector: nothing lost.")


def test_what_the_collector_lost_is_said(live: Live, page: Page) -> None:
    live.losses = {"dropped": 12, "unreadable": 3}
    live.start()
    expect(page.locator("[data-health]")).to_contain_text("12 frames dropped", timeout=90_000)
    expect(page.locator("[data-health]")).to_contain_text("3 entries that could not be read")
    expect(page.locator("[data-health]")).not_to_contain_text("late")


def test_parts_that_were_late_are_no_losses_and_no_alarm(live: Live, page: Page) -> None:
    live.losses = {"late": 37}
    live.start()
    health = page.locator("[data-health]")
    expect(health).to_contain_text("nothing lost · 37 parts came too late", timeout=90_000)
    expect(health).not_to_have_class("warn")


def test_the_cursor_reads_out_the_window_under_it(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    box = chart(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1200, box["y"] + 100)
    heads = page.locator(".panel-head")
    values = heads.nth(0).locator(".series-value")
    expect(values.nth(0)).to_contain_text("ms")
    expect(heads.nth(1).locator(".series-value").first).to_contain_text("%")
    expect(page.locator("[data-cursor-time]")).to_contain_text(".")
    page.mouse.move(0, 0)
    expect(values.nth(0)).to_have_text("")


def test_every_panel_is_there_on_one_time_axis(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    titles = [
        "Latency",
        "Host CPU",
        "CPU per executor, % of one core",
        "Backlog, rows",
        "Tasks",
        "Flushes at once",
        "Compactions at once",
        "GC pauses",
        "Micro-batches by phase",
    ]
    expect(page.locator(".panel-head h3")).to_have_text(titles)
    expect(page.locator(".xtitle")).to_have_count(1)
    assert live.errors == []


def test_a_series_is_switched_off_in_its_heading_and_in_the_address(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    for item in page.locator(".series").all():
        item.click()
        expect(item).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("hide=p999"))
    expect(page.locator(".panel-head")).to_have_count(9)
    assert live.errors == []


def test_a_job_without_rocksdb_is_told_what_that_would_show(live: Live, page: Page) -> None:
    nothing: dict[str, Any] = {"flushes": {}, "compactions": {}, "l0_files": {}}
    made = live.windows
    live.windows = lambda *range_ms: {**made(*range_ms), "state": nothing}  # type: ignore[method-assign]
    live.start()
    wait_for_chart(page)
    flushes = page.locator(".panel-head", has_text="Flushes at once")
    expect(flushes).to_contain_text("RocksDB state store")


def test_times_switch_to_utc(live: Live, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    expect(page.locator(".xtitle")).to_have_text(re.compile("^CES?T$"))
    page.get_by_role("button", name="UTC").click()
    expect(page.locator(".xtitle")).to_have_text("UTC")
    expect(page.locator(".facts")).to_contain_text("UTC")


def test_a_hidden_tab_draws_nothing_and_refills_on_return(live: Live, page: Page) -> None:
    live.start()
    wait_for_all(live)
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    flow_until_still(live)
    before, fetched = live.drawn(), live.fetches()
    page.evaluate(hide, False)
    expect(page.locator(f"[data-chart]:not([data-drawn='{before}'])")).to_be_attached()
    live.until(lambda: live.fetches() == fetched + 1)


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
    # Not by the navigation: whoever is refused next begins it anew.
    expect(page).to_have_url(re.compile(r"/login\?next=%2Fjobs%2Ftraffic-jam.ranking"))


def test_nothing_overflows_a_narrow_screen(live: Live, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    live.source = "batch"
    live.losses = {"dropped": 12, "late": 3400, "unreadable": 3}
    live.start()
    wait_for_chart(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

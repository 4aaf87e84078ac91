"""The job page beyond what Redis keeps: archived windows, and days of them in steps."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from redis import Redis

from dashboard.history.archive import Archive
from dashboard.history.place import Place
from dashboard.history.rollups import roll_up
from dashboard.testing.stack import Stack, stack
from tests.frontend import stored_job
from tests.frontend.live import chart, wait_for_chart

pytestmark = pytest.mark.browser

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
PER_MINUTE = 1_200


@dataclass
class Kept:
    """A job of which Redis has what came since `border_ms`, and the archive what came before."""

    running: Stack
    page: Page
    border_ms: int

    def open(self, query: str = "") -> Page:
        stored_job.beat(Redis.from_url(self.running.redis.url), time.time_ns() // 1_000_000)
        self.page.goto(f"{self.running.url}/jobs/{stored_job.JOB}{query}")
        wait_for_chart(self.page)
        return self.page


@pytest.fixture(scope="module")
def kept(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = str(tmp_path_factory.mktemp("archive"))
    with stack(CURTAIL_TECHNIQUES="tests.techniques.echo", CURTAIL_ARCHIVE=folder) as running:
        now_ms = time.time_ns() // 60_000_000_000 * MINUTE_MS
        border_ms = now_ms - 61 * MINUTE_MS
        archive = Archive(Place(folder))
        for end_ms, minutes in (
            (now_ms - 26 * HOUR_MS, 2),
            (now_ms - 5 * HOUR_MS, 2),
            # A minute of it is in Redis as well, as it is between archiving and trimming.
            (border_ms + MINUTE_MS, 3),
        ):
            news = stored_job.entries(end_ms, minutes * 60)
            archive.append(news, archive.archived_ms(news))
        roll_up(archive, stored_job.JOB, border_ms + MINUTE_MS)
        redis = Redis.from_url(running.redis.url)
        stored_job.send(redis, stored_job.entries(border_ms + 2 * MINUTE_MS, 120))
        stored_job.plant(redis, now_ms, 30)
        context = chromium.new_context(
            viewport={"width": 1440, "height": 900}, timezone_id="Europe/Berlin"
        )
        context.set_default_timeout(90_000)
        page = context.new_page()
        page.goto(running.url)
        page.get_by_label("User name").fill(running.username)
        page.get_by_label("Password").fill(running.password)
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{running.url}/")
        expect(page.get_by_role("link", name="ranking")).to_be_visible(timeout=60_000)
        yield Kept(running, page, border_ms)
        context.close()


def view(page: Page) -> tuple[int, int]:
    query = parse_qs(urlsplit(page.url).query)
    return int(query["from"][0]), int(query["to"][0])


def test_panning_from_live_into_archived_time_has_no_seam(kept: Kept) -> None:
    page = kept.open("?span=900000")
    page.keyboard.press("ArrowLeft")
    for _ in range(40):
        if view(page)[0] < kept.border_ms - 3 * MINUTE_MS:
            break
        page.keyboard.press("ArrowLeft")
    start_ms, end_ms = view(page)
    assert start_ms < kept.border_ms - 2 * MINUTE_MS
    assert end_ms > kept.border_ms + 2 * MINUTE_MS
    # Two minutes that only the archive has, one that both have and one that only Redis has.
    expect(chart(page)).to_have_attribute("data-in-view", str(4 * PER_MINUTE))
    expect(chart(page)).to_have_attribute("data-step-ms", "50")
    # Within the view it goes on with the mouse, too.
    box = page.locator("[data-plot]").bounding_box()
    assert box
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 500, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 150, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page).not_to_have_url(re.compile(f"from={start_ms}"))
    assert view(page)[0] < start_ms
    expect(chart(page)).to_have_attribute("data-in-view", str(4 * PER_MINUTE))
    # And back to live.
    page.keyboard.press("End")
    expect(chart(page)).not_to_have_attribute("data-state", "paused")


def test_a_day_opens_in_steps_says_so_and_shows_its_holes(kept: Kept) -> None:
    page = kept.open()
    page.get_by_label("Span").select_option("1 day")
    expect(chart(page)).to_have_attribute("data-step-ms", "60000")
    # Two minutes five hours ago, four at the border, and the newest half minute.
    expect(chart(page)).to_have_attribute("data-in-view", "7")
    steps = page.locator("[data-steps]")
    expect(steps).to_contain_text("1 min steps, not 50 ms windows")
    expect(steps).to_contain_text("No data in")
    expect(page.locator(".hole", has_text="no data").first).to_be_visible()
    expect(page.locator(".panel-head", has_text="Backlog")).to_be_visible()
    expect(page.locator(".panel-head", has_text="Compactions")).to_have_count(0)
    expect(page.get_by_role("button", name="worst 50 ms p99")).to_be_visible()
    expect(page.locator("[data-csv]")).to_be_hidden()
    # A number leads to the windows that it came from.
    page.locator(".stat-p99 button").click()
    expect(chart(page)).to_have_attribute("data-step-ms", "50")
    expect(page.locator("[data-steps]")).to_be_hidden()


def test_a_week_has_the_days_before(kept: Kept) -> None:
    page = kept.open()
    page.get_by_label("Span").select_option("1 week")
    expect(chart(page)).to_have_attribute("data-in-view", "9")
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_label("Span")).to_have_value("300000")


def test_the_address_of_a_day_opens_that_day(kept: Kept) -> None:
    end_ms = kept.border_ms
    page = kept.open(f"?from={end_ms - 24 * HOUR_MS}&to={end_ms}")
    expect(page.locator("[data-steps]")).to_contain_text("1 min steps")
    expect(page.get_by_label("Span")).to_have_value("86400000")


def test_a_range_without_any_data_says_so(kept: Kept) -> None:
    end_ms = kept.border_ms - 10 * HOUR_MS
    page = kept.open(f"?from={end_ms - 60_000}&to={end_ms}")
    expect(page.locator("[data-chart-note]")).to_have_text("No data in this range")


def test_steps_that_cannot_be_loaded_are_tried_again(kept: Kept) -> None:
    page = kept.open()
    page.route("**/history?*", lambda route: route.abort())
    page.get_by_label("Span").select_option("1 day")
    expect(page.locator("[data-chart-note]")).to_contain_text("could not be loaded")
    page.unroute("**/history?*")
    expect(chart(page)).to_have_attribute("data-step-ms", "60000")

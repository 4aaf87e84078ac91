"""From a running Spark query to the pixels, and through the loss of Redis."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from redis import Redis

from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS
from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import JOB_ID, PATIENCE_MS
from tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.quiet]

CHART = "[data-chart]"
# In one step: the collector writes on, and Redis refuses what comes before the newest.
AFTER_THE_NEWEST = """
local newest = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1][1]
local at_ms = string.match(newest, "%d+") + 1
return redis.call("XADD", KEYS[1], string.format("%.0f-0", at_ms), ARGV[1], ARGV[2])
"""


def chart(page: Page, name: str) -> int:
    return int(page.locator(CHART).get_attribute(f"data-{name}") or 0)


def wait_for_chart(page: Page, condition: str, argument: int = 0) -> None:
    # Not the browser's own waiting, which evaluates text in the page: the policy refuses that.
    question = (
        f"argument => {{ const chart = document.querySelector('{CHART}').dataset; "
        f"return {condition} }}"
    )
    until(lambda: page.evaluate(question, argument), timeout_s=PATIENCE_MS / 1000, every_s=0.1)


def windows(page: Page, url: str, start_ms: int, end_ms: int) -> dict[str, Any]:
    response = page.request.get(
        f"{url}/api/v1/jobs/{JOB_ID}/windows", params={"start_ms": start_ms, "end_ms": end_ms}
    )
    assert response.ok, response.text()
    body: dict[str, Any] = response.json()
    return body


def stamped(page: Page, url: str) -> dict[str, Any]:
    """The latencies of the last ten seconds, once there are any of single records."""
    end_ms = now_ms()
    latency: dict[str, Any] = windows(page, url, end_ms - 10_000, end_ms)["latency"]
    return latency if latency["source"] == "record" and any(latency["count"]) else {}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_a_job_is_found_opened_and_seen_to_move(running: Stack, logged_in: Page) -> None:
    page = logged_in
    page.get_by_role("link", name="ranking").click()
    expect(page).to_have_url(re.compile(re.escape(f"{running.url}/jobs/{JOB_ID}") + r"(\?|$)"))
    wait_for_chart(page, "Number(chart.points) > 40 && chart.state === 'live'")
    seen = chart(page, "points")
    wait_for_chart(page, "Number(chart.points) >= argument + 60", seen)
    # Records complete, their latencies are known, and they are drawn.
    latency = until(lambda: stamped(page, running.url), timeout_s=60, every_s=0.5)
    assert max(p99 or 0 for p99 in latency["p99"]) > 0
    wait_for_chart(page, "Number(chart.lines) >= 4")


def test_the_page_outlives_a_lost_redis_and_nothing_of_the_outage_is_missing(
    running: Stack, logged_in: Page
) -> None:
    page = logged_in
    page.goto(f"{running.url}/jobs/{JOB_ID}")
    page.evaluate("window.neverReloaded = true")
    wait_for_chart(page, "Number(chart.points) > 20 && chart.state === 'live'")
    running.redis.stop()
    lost_ms = now_ms()
    wait_for_chart(page, "chart.state !== 'live'")
    before = chart(page, "last-window-ms")
    running.redis.start()
    back_ms = now_ms()
    wait_for_chart(page, "chart.state === 'live' && Number(chart.lastWindowMs) > argument", back_ms)
    assert page.evaluate("window.neverReloaded")
    assert before < back_ms
    # The collector kept what it could not send, so the outage itself is whole.
    kept = windows(page, running.url, lost_ms, back_ms)["t"]
    assert kept == list(range(kept[0], kept[-1] + 1, WINDOW_MS))
    assert len(kept) >= (back_ms - lost_ms) // WINDOW_MS - 1


def test_garbage_in_the_stream_is_counted_on_the_page_that_goes_on(
    running: Stack, logged_in: Page
) -> None:
    page = logged_in
    page.goto(f"{running.url}/jobs/{JOB_ID}")
    wait_for_chart(page, "Number(chart.points) > 20 && chart.state === 'live'")
    garbage_ms = now_ms()
    client = Redis.from_url(running.redis.url)
    client.eval(AFTER_THE_NEWEST, 1, keys.frames(JOB_ID).key, keys.PAYLOAD, b"garbage")
    wait_for_chart(page, "Number(chart.lastWindowMs) > argument", garbage_ms)
    expect(page.locator("[data-health]")).to_contain_text("1", timeout=PATIENCE_MS)

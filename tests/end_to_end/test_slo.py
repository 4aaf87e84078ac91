"""An SLO on a job that cannot keep up, beside one that can: set, missed, acted on and met, as an
operator sees it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from dashboard.testing.running import Running
from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import JOB_ID, PATIENCE_MS, switch

pytestmark = [
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

LATE_ID = "enrichment.orders"
# More orders a second than one instance can make calls for: every batch takes longer than the last.
TOO_MUCH = ("--instances", "1", "--rate", "80", "--median-ms", "15", "--tail", "0.5")
CLUSTER, CARD = "shop", "#technique-slo"
THRESHOLD_MS = 8_000
# Nothing of a minute's waiting is what this test is about.
SOON = {"settle_s": 10, "collect_s": 0}


@pytest.fixture(scope="module")
def late(running: Stack) -> Iterator[str]:
    with Running(running.job("enrichment", *TOO_MUCH)):
        yield f"{running.url}/jobs/{LATE_ID}"


def put(page: Page, stack: Stack, path: str, **body: Any) -> None:
    cookies = page.context.cookies()
    csrf = next(cookie["value"] for cookie in cookies if cookie["name"] == "csrftoken")
    headers = {"X-CSRFToken": csrf, "Referer": stack.url}
    answer = page.request.put(f"{stack.url}/api/v1{path}", data=body, headers=headers)
    assert answer.ok, answer.text()


def test_a_job_that_misses_its_slo_gets_instances_until_it_meets_it(
    running: Stack, late: str, logged_in: Page
) -> None:
    page = logged_in
    expect(page.get_by_role("link", name="orders")).to_be_visible(timeout=PATIENCE_MS)
    for job_id in (LATE_ID, JOB_ID):
        put(page, running, f"/jobs/{job_id}/tags", tags=[f"cluster:{CLUSTER}"])
    # One that is met, so that the cluster has a job to leave alone.
    easy = {"latency": {"threshold_ms": 600_000}, "priority": 10}
    put(page, running, f"/jobs/{JOB_ID}/slo", objective=easy, version=0)

    put(page, running, f"/clusters/{CLUSTER}", size=32, reason="two more hosts")

    page.goto(late)
    page.get_by_role("button", name="Set an SLO").click()
    page.get_by_label("At most, in ms").fill(str(THRESHOLD_MS))
    page.get_by_role("button", name="Save").click()
    slo = page.locator("[data-slo]")
    expect(slo).to_contain_text("p99 committed ≤")
    expect(slo).to_have_attribute("data-met", "false", timeout=PATIENCE_MS)
    expect(slo).to_contain_text("missed")

    expect(page.locator(CARD)).to_contain_text("congested: pool:enrich", timeout=PATIENCE_MS)
    for job_id in (JOB_ID, LATE_ID):
        put(
            page,
            running,
            f"/jobs/{job_id}/techniques/slo",
            mode="advise",
            options=SOON,
            version=0,
            reason="to see what it would do",
        )
    page.reload()
    switch(page, CARD, "act", "it misses its SLO")
    expect(page.locator(CARD)).to_have_attribute("data-state", "applied", timeout=PATIENCE_MS)
    expect(slo).to_have_attribute("data-met", "true", timeout=2 * PATIENCE_MS)

    page.goto(f"{running.url}/clusters/{CLUSTER}")
    action = page.locator("[data-actions] > li").filter(has_text="Reconfiguration").last
    expect(action).to_contain_text(f"{LATE_ID} misses its SLO")
    expect(action).to_contain_text("pool:enrich 1 →")
    expect(page.locator(f"[data-job-row='{LATE_ID}']")).to_contain_text("met")
    expect(page.locator(f"[data-job-row='{JOB_ID}']")).to_contain_text("met")

    page.goto(late)
    switch(page, CARD, "off", "seen")
    expect(page.locator(CARD)).to_have_attribute("data-state", "off", timeout=PATIENCE_MS)

"""The four techniques on operator pools, switched on the page of a real job with a pool."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from dashboard.testing.running import Running
from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import PATIENCE_MS, switch

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.quiet]

# Enough for each technique to have a reason: chunks wait, at one instance more than at the others.
TROUBLE = ("--instances", "3", "--rate", "40", "--median-ms", "15", "--slow-instance", "1")
# How soon after a technique is applied its pool says so.
SOON_MS = 2_000
NOTHING_ON = "policy round-robin"


@pytest.fixture(scope="module")
def enriched(running: Stack) -> Iterator[str]:
    with Running(running.job("enrichment", *TROUBLE, "--slow-times", "2")):
        yield f"{running.url}/jobs/enrichment.orders"


@pytest.mark.parametrize(
    ("technique", "says", "panel"),
    [
        ("adaptive_timeout", "adaptive timeout", "Replay timeout"),
        ("shared_queue", "policy shared-queue", "Pool queues"),
        ("latency_balancing", "policy latency-weighted", "Pool weights"),
        ("largest_backlog", "largest backlog first", "Pool outgoing"),
    ],
)
def test_it_steers_the_pool_of_the_running_job_and_lets_go(
    enriched: str, logged_in: Page, technique: str, says: str, panel: str
) -> None:
    page, card = logged_in, f"#technique-{technique}"
    expect(page.get_by_role("link", name="orders")).to_be_visible(timeout=PATIENCE_MS)
    page.goto(enriched)
    rules = page.locator("[data-pools] .pool-rules")
    expect(rules).to_contain_text(NOTHING_ON, timeout=PATIENCE_MS)
    expect(rules).not_to_contain_text(says)
    expect(page.locator(card)).to_be_visible(timeout=PATIENCE_MS)

    switch(page, card, "act", "its chunks wait")
    expect(page.locator(card)).to_have_attribute("data-state", "applied", timeout=PATIENCE_MS)
    expect(rules).to_contain_text(says, timeout=SOON_MS)
    expect(page.locator(".panel-head h3").filter(has_text=panel)).to_be_visible(timeout=SOON_MS)

    switch(page, card, "off", "it was")
    expect(page.locator(card)).to_have_attribute("data-state", "off", timeout=PATIENCE_MS)
    expect(rules).to_contain_text(NOTHING_ON, timeout=SOON_MS)
    expect(rules).not_to_contain_text(says, timeout=SOON_MS)


def test_what_it_did_to_the_jobs_latency_stands_on_its_card(enriched: str, logged_in: Page) -> None:
    page, card = logged_in, "#technique-shared_queue"
    page.goto(enriched)
    expect(page.locator(card)).to_be_visible(timeout=PATIENCE_MS)
    switch(page, card, "act", "its chunks wait")
    effect = page.locator(card).get_by_role("row", name="p99.9")
    expect(effect).to_contain_text("×", timeout=PATIENCE_MS)
    switch(page, card, "off", "seen")

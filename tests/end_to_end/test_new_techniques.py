"""A technique is a folder and nothing else: one per kind of action, each on a real job's page.

The job has an operator pool; the techniques are those of `tests/techniques` and are known to nobody
but by `CURTAIL_TECHNIQUES`.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from dashboard.testing.running import Running
from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import PATIENCE_MS, switch

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.quiet]


@pytest.fixture(scope="module")
def enriched(running: Stack) -> Iterator[str]:
    with Running(running.job("enrichment")):
        yield f"{running.url}/jobs/enrichment.orders"


@pytest.mark.parametrize(
    ("technique", "says"),
    [
        ("pool_policy", "fewest-queued was asked for"),
        ("live_conf", "copies from 3.0 × on"),
        ("cluster_share", "100% each of enrichment.orders"),
    ],
)
def test_it_is_on_the_page_acts_on_the_running_job_and_lets_go(
    running: Stack, enriched: str, logged_in: Page, technique: str, says: str
) -> None:
    page, card = logged_in, f"#technique-{technique}"
    expect(page.get_by_role("link", name="orders")).to_be_visible(timeout=PATIENCE_MS)
    page.goto(enriched)
    expect(page.locator(card)).to_be_visible(timeout=PATIENCE_MS)

    switch(page, card, "act", "a folder is enough")
    expect(page.locator(card)).to_have_attribute("data-state", "applied", timeout=PATIENCE_MS)
    expect(page.locator(card)).to_contain_text(says)
    switch(page, card, "off", "it was")
    expect(page.locator(card)).to_have_attribute("data-state", "off", timeout=PATIENCE_MS)

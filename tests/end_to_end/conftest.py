"""The whole product on this machine: Redis, server, worker, a Spark job and a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from dashboard.testing.running import Running
from dashboard.testing.stack import Stack, stack
from tests.frontend.conftest import chromium, page

__all__ = ["chromium", "page"]

JOB_ID = "traffic-jam.ranking"
TECHNIQUES = ("cluster_share", "echo", "live_conf", "pool_policy")
# A JVM starts, compiles its first plans and shares two cores with a browser.
PATIENCE_MS = 240_000


@pytest.fixture(scope="package")
def running() -> Iterator[Stack]:
    with (
        stack(CURTAIL_TECHNIQUES=",".join(f"tests.techniques.{n}" for n in TECHNIQUES)) as started,
        Running(started.job("traffic_jam", "--setting", "calm")),
    ):
        yield started


@pytest.fixture
def logged_in(running: Stack, page: Page) -> Page:
    return log_in(page, running, running.username, running.password)


def log_in(page: Page, running: Stack, name: str, password: str) -> Page:
    page.set_default_timeout(PATIENCE_MS)
    page.goto(running.url)
    page.get_by_label("User").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{running.url}/")
    return page


def switch(page: Page, card: str, mode: str, reason: str) -> None:
    page.locator(card).get_by_role("button", name=mode, exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"→ {mode}")
    dialog.get_by_label("Reason").fill(reason)
    dialog.locator("button[type=submit]").click()
    expect(dialog).to_be_hidden()

"""One browser for the test files of a folder that follow each other.

Playwright's synchronous API keeps an event loop running in this thread while it is open, and
asyncio tests and Django's ORM both refuse to work beside one. So the browser lives as long as the
files of its folder, not as long as the session; no test there may ask for either.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from dashboard.testing.chromium import chromium as launched
from dashboard.testing.stack import Stack, stack
from tests.frontend.static_server import static_server


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def base() -> Iterator[str]:
    with static_server() as address:
        yield address


@pytest.fixture(scope="package")
def served() -> Iterator[Stack]:
    """A real server with its worker, for test files that leave each other's things alone: a start
    takes longer than most tests."""
    environment = {
        "CURTAIL_TECHNIQUES": "tests.techniques.echo",
        "CURTAIL_WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
    }
    with stack(**environment) as started:
        yield started


@contextmanager
def new_page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, timezone_id="Europe/Berlin"
    )
    context.set_default_timeout(90_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of its own, so that no test sees another's storage."""
    with new_page(chromium) as made:
        yield made


@pytest.fixture(scope="module")
def blank(chromium: Browser, base: str) -> Iterator[Page]:
    """A blank page on the static server: import() of a module works from here. One for all tests
    of a file: modules keep nothing, and a page takes longer to make than most of these tests."""
    with new_page(chromium) as made:
        made.goto(f"{base}/blank")
        yield made

"""Every page is held against axe-core, as somebody with a screen reader or a keyboard would."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import JOB_ID, PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.quiet]

PAGES = ("/", f"/jobs/{JOB_ID}", "/settings", "/people", "/audit", "/alerts", "/incidents")
BAD = ("serious", "critical")


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']} ({each['help']}) at {[node['target'] for node in each['nodes'][:3]]}"
        for each in found
        if each["impact"] in BAD
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_violation(running: Stack, logged_in: Page, scheme: str) -> None:
    page = logged_in
    expect(page.get_by_role("link", name="ranking")).to_be_visible(timeout=PATIENCE_MS)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found: dict[str, list[str]] = {}
    for path in PAGES:
        page.goto(f"{running.url}{path}")
        expect(page.locator("main h1")).to_be_visible()
        if path.startswith("/jobs/"):
            expect(page.locator("#technique-echo")).to_be_visible(timeout=PATIENCE_MS)
        if bad := violations(page):
            found[path] = bad

    assert found == {}


def test_the_login_has_none_either(running: Stack, page: Page) -> None:
    page.goto(f"{running.url}/login")
    assert violations(page) == []

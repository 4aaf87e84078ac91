"""Settings, people and audit as somebody uses them, on a real server."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.testing.stack import Stack, stack

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    with stack() as started:
        yield started


@pytest.fixture
def log_in(running: Stack, chromium: Browser) -> Iterator[Callable[[str, str], Page]]:
    contexts = []

    def as_somebody(name: str, password: str) -> Page:
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(90_000)
        contexts.append(context)
        page = context.new_page()
        page.goto(running.url)
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{running.url}/")
        return page

    yield as_somebody
    for context in contexts:
        context.close()


@pytest.fixture
def admin(running: Stack, log_in: Callable[[str, str], Page]) -> Page:
    return log_in(running.username, running.password)


def status_with(secret: str, url: str) -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {secret}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.load(answer)["role"] == "viewer"
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def added(page: Page, running: Stack, name: str, role: str) -> str:
    """Adds somebody and gives their password."""
    page.goto(f"{running.url}/people")
    page.get_by_label("User name").fill(name)
    page.locator("[data-add] [name=role]").select_option(role)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("row", name=name)).to_be_visible()
    expect(page.locator("[data-secret]")).to_have_text(re.compile(r"\S"))
    return page.locator("[data-secret]").inner_text()


def test_a_token_is_made_shown_once_used_and_revoked(running: Stack, admin: Page) -> None:
    page = admin
    page.goto(f"{running.url}/settings")
    expect(page.get_by_text("You have no tokens")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("nightly report")
    page.get_by_role("button", name="Make token").click()
    expect(page.locator("[data-secret]")).to_have_text(re.compile(r"^ct_[\w-]{40}$"))
    secret = page.locator("[data-secret]").inner_text()
    assert status_with(secret, f"{running.url}/api/v1/me") == 200
    page.reload()
    expect(page.get_by_role("row", name="nightly report")).to_contain_text("ago")
    assert secret not in page.content()

    revoke = page.get_by_role("button", name="Revoke nightly report")
    revoke.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", name="nightly report")).to_be_visible()
    revoke.click()
    page.get_by_label("Reason").fill("not needed")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You have no tokens")).to_be_visible()
    assert status_with(secret, f"{running.url}/api/v1/me") == 401


def test_somebody_is_added_promoted_and_disabled_and_the_audit_tells_all_of_it(
    running: Stack, admin: Page, log_in: Callable[[str, str], Page]
) -> None:
    page = admin
    password = added(page, running, "nadia", "viewer")
    theirs = log_in("nadia", password)
    expect(theirs.locator("body")).to_have_attribute("data-role", "viewer")

    page.get_by_label("Role of nadia").select_option("operator")
    page.get_by_label("Reason").fill("on call")
    page.get_by_role("button", name="Make operator").click()
    expect(page.get_by_role("status")).to_have_text("nadia is operator now.")
    theirs.reload()
    expect(theirs.locator("body")).to_have_attribute("data-role", "operator")

    page.get_by_role("button", name="Disable: nadia").click()
    page.get_by_role("button", name="Disable", exact=True).click()
    expect(page.locator("[data-summary]")).to_contain_text("1 disabled")
    theirs.reload()
    expect(theirs).to_have_url(re.compile("/login"))

    page.goto(f"{running.url}/audit?action=user")
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("user disabled nadia")
    expect(rows.nth(0)).to_contain_text("yes → no")
    expect(rows.nth(1)).to_contain_text("viewer → operator")
    expect(rows.nth(1)).to_contain_text("on call")
    expect(rows.nth(2)).to_contain_text("user added nadia")
    page.get_by_label("Who").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No entry matches")).to_be_visible()
    expect(page).to_have_url(re.compile("who=nobody"))


def test_a_viewer_sees_no_controls_that_are_not_theirs(
    running: Stack, admin: Page, log_in: Callable[[str, str], Page]
) -> None:
    page = log_in("eve", added(admin, running, "eve", "viewer"))
    expect(page.get_by_role("link", name="Audit")).to_be_visible()
    expect(page.get_by_role("link", name="People")).to_have_count(0)
    page.goto(f"{running.url}/people")
    expect(page.get_by_role("heading")).to_have_text("Not for your role")
    page.goto(f"{running.url}/settings")
    expect(page.get_by_label("May").get_by_role("option")).to_have_text(["read"])
    page.goto(f"{running.url}/audit")
    expect(page.get_by_text("Admins also see people and tokens")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(0)


def test_the_documentation_of_the_api_works_under_the_policy(running: Stack, admin: Page) -> None:
    refused: list[str] = []
    admin.on("console", lambda message: refused.append(message.text))
    admin.goto(f"{running.url}/api/v1/docs")
    admin.get_by_text("Who am I").click()
    admin.get_by_role("button", name="Try it out").click()
    admin.get_by_role("button", name="Execute").click()
    expect(admin.locator(".live-responses-table")).to_contain_text('"administer": true')
    assert [text for text in refused if "Content Security Policy" in text] == []

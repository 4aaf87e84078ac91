import re
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.static_server import ROOT, StandIn, render

pytestmark = pytest.mark.browser

JOB = SimpleNamespace(id="a.b", application="a", query="b")
INCIDENT = SimpleNamespace(pk=7, title="t", state="open", severity="info", explanation="e")
# What a page needs to be drawn; most need nothing.
CONTEXTS: dict[str, dict[str, Any]] = {
    "registration/login.html": {"form": {}, "next": "/"},
    "job.html": {"job": JOB},
    "cluster.html": {"cluster": "prod"},
    "incidents.html": {"kinds": ["straggler"], "states": ["open"]},
    "incident.html": {"incident": INCIDENT, "job": JOB},
    "settings.html": {"form": {}},
    "people.html": {"roles": ["viewer", "operator", "admin"]},
    "alerts.html": {"can_operate": True},
}


def every_page() -> list[str]:
    """Every template but those that others are made of, so that a new page is looked at too."""
    folder = ROOT / "frontend" / "templates"
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.html")}
    part = re.compile(r'{% (?:extends|include) "([^"]+)" %}')
    parts = {name for text in texts.values() for name in part.findall(text)}
    return sorted(texts.keys() - parts)


PAGES = every_page()


def shown(base: str, page: Page, template: str, user: str | None = "nadia") -> StandIn:
    stand_in = StandIn(base, page, lambda path, query: None)
    stand_in.open("/page", render(template, CONTEXTS.get(template, {}), user=user))
    return stand_in


def test_the_pages_are_found_and_their_parts_are_not() -> None:
    assert CONTEXTS.keys() <= set(PAGES)
    assert {"jobs.html", "audit.html", "404.html", "500.html"} <= set(PAGES)
    assert {"base.html", "ask.html"}.isdisjoint(PAGES)


@pytest.mark.parametrize("template", PAGES)
def test_a_page_keeps_to_the_content_security_policy(base: str, page: Page, template: str) -> None:
    stand_in = shown(base, page, template)
    expect(page.locator("[data-zone-choice] button").first).to_have_text(
        re.compile(r"^Local \(CES?T\)$")
    )
    assert stand_in.errors == []


@pytest.mark.parametrize("template", PAGES)
def test_a_page_has_neither_inline_script_nor_inline_style(template: str) -> None:
    html = render(template, CONTEXTS.get(template, {}))
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", html)
    assert "{{" not in html
    assert "{%" not in html


@pytest.mark.parametrize("template", ["500.html", "404.html"])
def test_an_error_page_needs_no_context(template: str) -> None:
    assert "Log out" not in render(template, user=None)


def test_the_name_of_a_job_cannot_break_out_of_the_page() -> None:
    name = '"><script>alert(1)</script>'
    html = render("job.html", {"job": SimpleNamespace(id=name, application=name, query=name)})
    assert "<script>alert" not in html


def test_login_says_what_was_wrong_and_keeps_the_user_name(base: str, page: Page) -> None:
    form = {"non_field_errors": ["Wrong password."], "username": {"value": "nadia"}}
    stand_in = StandIn(base, page, lambda path, query: None)
    stand_in.open(
        "/login",
        render("registration/login.html", {"form": form, "next": "/jobs/a.b"}, user=None),
    )
    expect(page.get_by_role("alert")).to_have_text("Wrong password.")
    expect(page.get_by_label("User name")).to_have_value("nadia")
    expect(page.get_by_label("User name")).to_be_focused()
    assert page.locator("input[name=next]").get_attribute("value") == "/jobs/a.b"


def test_log_out_is_a_post(base: str, page: Page) -> None:
    shown(base, page, "jobs.html")
    form = page.locator("form", has=page.get_by_role("button", name="Log out"))
    assert form.get_attribute("method") == "post"
    assert form.locator("input[name=csrfmiddlewaretoken]").count() == 1


def test_the_theme_follows_the_system_until_one_is_chosen_and_is_kept(
    base: str, page: Page
) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page.emulate_media(color_scheme="dark")
    shown(base, page, "404.html")
    dark = ground()
    page.get_by_role("button", name="Light").click()
    light = ground()
    assert light != dark
    page.reload()
    assert ground() == light
    page.get_by_role("button", name="Auto").click()
    assert ground() == dark


def test_the_files_name_no_other_host() -> None:
    # A namespace looks like an address; nobody asks there.
    allowed = r"(^|\s)//.*|redis://…|\"http://www.w3.org/2000/svg\""
    for path in (ROOT / "frontend").rglob("*"):
        if path.suffix in {".html", ".js", ".css"}:
            assert "//" not in re.sub(allowed, "", path.read_text(), flags=re.M), path

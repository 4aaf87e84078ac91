"""A technique is switched in a browser, on a running job, and what the job says comes back."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.testing.stack import Stack
from tests.end_to_end.conftest import JOB_ID, PATIENCE_MS, log_in, switch

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.quiet]

CARD = "#technique-echo"


@pytest.fixture
def job_page(running: Stack, logged_in: Page) -> Page:
    # Until the job has announced itself it has no page.
    expect(logged_in.get_by_role("link", name="ranking")).to_be_visible(timeout=PATIENCE_MS)
    logged_in.goto(f"{running.url}/jobs/{JOB_ID}")
    expect(logged_in.locator(CARD)).to_be_visible(timeout=PATIENCE_MS)
    return logged_in


@pytest.fixture
def viewer(running: Stack, logged_in: Page, chromium: Browser) -> Iterator[Page]:
    """Somebody who may look; added through the API as the people page does."""
    token = logged_in.context.cookies()
    csrf = next(cookie["value"] for cookie in token if cookie["name"] == "csrftoken")
    answer = logged_in.request.post(
        f"{running.url}/api/v1/users",
        data={"username": f"vera{time.time_ns()}", "role": "viewer"},
        headers={"X-CSRFToken": csrf, "Referer": running.url},
    )
    assert answer.ok, answer.text()
    person = answer.json()
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    yield log_in(context.new_page(), running, person["username"], person["password"])
    context.close()


def test_a_switch_is_asked_applied_by_the_job_and_audited(running: Stack, job_page: Page) -> None:
    page = job_page
    switch(page, CARD, "act", "to see it work")
    expect(page.locator(CARD)).to_have_attribute("data-state", "applied", timeout=PATIENCE_MS)
    expect(page.locator(CARD)).to_contain_text("says hello")
    page.goto(f"{running.url}/audit")
    expect(page.get_by_text("to see it work")).to_be_visible()

    page.goto(f"{running.url}/jobs/{JOB_ID}")
    switch(page, CARD, "off", "seen")
    expect(page.locator(CARD)).to_have_attribute("data-state", "off", timeout=PATIENCE_MS)


def test_who_may_only_look_sees_the_state_and_no_switch(running: Stack, viewer: Page) -> None:
    page = viewer
    page.goto(f"{running.url}/jobs/{JOB_ID}")
    expect(page.locator(CARD)).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(CARD).get_by_role("button")).to_have_count(0)
    # And the phone that this one looks with shows all of it without scrolling sideways.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_incident_is_marked_on_the_axis_and_opens_beside_it(
    running: Stack, job_page: Page
) -> None:
    page = job_page
    now_ms = time.time_ns() // 1_000_000
    fields = {
        "job_id": JOB_ID,
        "kind": "made_up",
        "title": "Planted by a test",
        "onset_ms": now_ms - 20_000,
        "explanation": "Nothing is wrong.",
    }
    created = f"Incident.objects.create(**json.loads({json.dumps(fields)!r}))"
    code = f"import json; from dashboard.models import Incident; {created}"
    running.manage("shell", "-c", code)
    mark = page.get_by_role("button", name="Incident: Planted by a test")
    expect(mark).to_be_visible(timeout=PATIENCE_MS)
    mark.click()
    beside = page.locator("[data-incidents]")
    expect(beside).to_contain_text("Nothing is wrong.")
    page.reload()
    expect(beside).to_contain_text("Nothing is wrong.")


def test_a_range_is_brushed_in_one_panel_and_all_of_them_zoom(job_page: Page) -> None:
    page = job_page
    chart = page.locator("[data-chart]")
    page.wait_for_function(
        "() => Number(document.querySelector('[data-chart]').dataset.points) > 100"
    )
    # Only then does anybody hear the mouse.
    expect(page.locator("[data-chart][data-zoomable]")).to_be_attached(timeout=PATIENCE_MS)
    box = page.locator("[data-plot]").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60, steps=8)
    page.mouse.up()
    expect(page.get_by_role("button", name="Live", exact=True)).to_have_attribute(
        "aria-pressed", "false"
    )
    expect(page).to_have_url(re.compile(r"\?"))
    brushed = page.url
    page.goto(brushed)
    expect(chart).to_be_visible()
    assert page.url == brushed

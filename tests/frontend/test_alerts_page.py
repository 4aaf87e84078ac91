"""The alerts page on a real server with its worker, and a real receiver at the other end."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Page, expect

from dashboard.testing.stack import Stack
from tests.dashboard.alerts.received import Received, receiving

PATIENCE_MS = 90_000


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Received]:
    with receiving(tmp_path_factory.mktemp("receiver")) as started:
        yield started


@pytest.mark.browser
def test_an_endpoint_is_added_tested_and_its_delivery_replayed(
    served: Stack, receiver: Received, page: Page
) -> None:
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{served.url}/alerts")
    page.get_by_label("User").fill(served.username)
    page.get_by_label("Password").fill(served.password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Nobody is told yet")).to_be_visible()

    page.get_by_role("button", name="Add an endpoint").click()
    page.get_by_label("Name").fill("night shift")
    page.get_by_label("Address").fill("http://169.254.169.254/")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-endpoint-trouble]")).to_contain_text("link-local")
    page.get_by_label("Address").fill(receiver.url("ok"))
    page.get_by_label("slo.violated").check()
    page.get_by_role("button", name="Save").click()

    secret = page.locator("[data-secret]")
    expect(secret).to_have_text(re.compile(r"^whsec_[\w+/]{43}=$"))
    receiver.knows(secret.inner_text())
    row = page.locator("[data-rows] tr")
    expect(row).to_contain_text("slo.violated")

    page.get_by_role("button", name="Test: night shift").click()
    sent = page.locator("[data-deliveries-rows] tr")
    expect(sent).to_contain_text("delivered", timeout=PATIENCE_MS)
    expect(sent).to_contain_text("200 after")
    sent.get_by_role("group").click()
    expect(sent.locator("pre")).to_have_text("thank you")

    page.get_by_role("button", name="Replay").click()
    page.get_by_role("button", name="Send again").click()
    expect(sent.locator("[data-label=Attempts]")).to_have_text("2", timeout=PATIENCE_MS)
    assert len(set(receiver.ids)) == 1
    assert [each["verified_by"] for each in receiver.seen] == [[secret.inner_text()]] * 2


def test_a_viewer_sees_no_buttons() -> None:
    request = RequestFactory().get("/alerts")
    request.user = AnonymousUser()
    for may, expected in ((False, 0), (True, 1)):
        html = render_to_string("alerts.html", {"can_operate": may}, request)
        assert html.count("data-add") == html.count("data-endpoint-form") == expected
        assert html.count("data-ask ") == expected

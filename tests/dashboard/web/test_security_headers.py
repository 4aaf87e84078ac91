import re

import pytest
from django.test import Client
from django.urls import URLPattern

from dashboard.models import Role
from dashboard.urls import urlpatterns
from tests.dashboard.users import logged_in, person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

EXAMPLES = {
    "<str:job_id>": "a.b",
    "<str:cluster>": "prod",
    "<int:analysis_id>": "1",
    "<int:incident_id>": "7",
}


def every_page() -> list[str]:
    """One address of every route, so that a new page cannot be forgotten here."""
    routes = [str(found.pattern) for found in urlpatterns if isinstance(found, URLPattern)]
    return ["/" + re.sub(r"<[^>]+>", lambda part: EXAMPLES[part[0]], route) for route in routes]


ANSWERS = [
    *every_page(),
    "/nowhere",
    "/api/v1/me",
    "/api/v1/nowhere",
    "/api/v1/docs",
    "/static/curtail/js/core/api.js",
]


def test_the_pages_that_people_open_are_among_the_answers() -> None:
    assert {"/", "/jobs/a.b", "/incidents/7", "/alerts", "/login"} <= set(ANSWERS)


@pytest.mark.parametrize("path", ANSWERS)
def test_every_answer_tells_the_browser_what_not_to_do(path: str) -> None:
    headers = logged_in(person("root", Role.ADMIN)).get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(client: Client) -> None:
    person("nadia")
    cookies = client.post("/login", {"username": "nadia", "password": "a long enough one"}).cookies
    for name in ("sessionid", "csrftoken"):
        assert cookies[name]["httponly"]
        assert cookies[name]["samesite"] == "Lax"

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.persons import logged_in, person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

ANSWERS = [
    "/",
    "/login",
    "/settings",
    "/people",
    "/audit",
    "/nowhere",
    "/healthz",
    "/api/v1/me",
    "/api/v1/nowhere",
    "/api/v1/docs",
    "/static/curtail/js/core/api.js",
]


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

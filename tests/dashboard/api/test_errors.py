"""Errors under /api/ are problems, whoever answers: ninja, a guard or Django itself."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.api import me as me_api
from dashboard.models import Role
from tests.dashboard.users import logged_in, person, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

USERS = "/api/v1/users"


@pytest.fixture
def root() -> User:
    return person("root", Role.ADMIN)


@pytest.fixture
def api(root: User) -> Client:
    return logged_in(root)


@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v1/nothing", "/api/v2/jobs"])
def test_no_such_address_is_404(api: Client, path: str) -> None:
    problem(api.get(path), 404)


def test_no_such_method_is_405_with_those_there_are(api: Client) -> None:
    response = api.delete(USERS)
    problem(response, 405)
    assert set(response["Allow"].split(", ")) == {"GET", "POST"}


def test_a_host_that_is_not_ours_is_400(api: Client) -> None:
    problem(api.get("/api/v1/me", headers={"Host": "evil.example"}), 400)


@pytest.mark.parametrize("path", ["/api/v1/jobs/%00", "/api/v1/audit?who=a%00"])
def test_an_address_with_nul_is_400(api: Client, path: str) -> None:
    assert "NUL" in problem(api.get(path), 400)["detail"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"username": ', "line 1, column 14"),
        (b"username=x", "no JSON"),
        (b'{"username": NaN}', "NaN"),
        (b'{"username": "a\\u0000"}', "NUL"),
        (b'{"username": "a\\ud800"}', "UTF-8"),
        (b'{"username": "\xff"}', "UTF-8"),
        (b"[" * 20_000, "too deep"),
        (b"[]", "not an object"),
        (b'"x"', "not an object"),
    ],
)
def test_a_body_that_is_no_json_is_400_and_says_where(
    api: Client, body: bytes, reason: str
) -> None:
    said = problem(api.post(USERS, body, "application/json"), 400)
    assert reason in said["detail"]
    assert said["faults"][0]["field"] == "body"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"username": "x", "role": "king"}, "role"),
        ({"username": 5}, "username"),
        ({"username": "x", "reason": "r" * 501}, "reason"),
    ],
)
def test_a_body_of_another_shape_is_400_with_the_field_named(
    api: Client, body: object, field: str
) -> None:
    response = api.post(USERS, json.dumps(body), "application/json")
    assert problem(response, 400)["faults"][0]["field"] == field


def test_no_body_at_all_is_400(api: Client) -> None:
    problem(api.post(USERS), 400)


def test_a_body_that_is_too_large_is_413(api: Client) -> None:
    response = api.post(USERS, b" " * (64 * 1024 + 1), "application/json")
    assert "64 KB" in problem(response, 413)["detail"]


def test_a_session_without_the_csrf_token_changes_nothing(root: User) -> None:
    client = logged_in(root, enforce_csrf_checks=True)
    assert client.get(USERS).status_code == 200
    response = client.post(USERS, {"username": "eve"}, "application/json")
    assert "CSRF" in problem(response, 403)["detail"]
    page = client.get("/people").content.decode()
    token = page.partition('csrfmiddlewaretoken" value="')[2].partition('"')[0]
    response = client.post(
        USERS, {"username": "eve"}, "application/json", headers={"X-CSRFToken": token}
    )
    assert response.status_code == 201


def test_a_fault_of_ours_is_500_and_tells_nothing(
    root: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def broken(_request: object) -> None:
        raise RuntimeError("postgres://curtail:secret@db")

    monkeypatch.setattr(me_api, "caller", broken)
    client = logged_in(root, raise_request_exception=False)
    response = client.get("/api/v1/me")
    assert "secret" not in str(problem(response, 500))


def test_pages_keep_their_own_errors(api: Client) -> None:
    assert api.get("/nothing")["Content-Type"].startswith("text/html")


def test_answers_of_the_api_are_kept_by_no_cache(api: Client) -> None:
    assert api.get("/api/v1/me")["Cache-Control"] == "no-store"

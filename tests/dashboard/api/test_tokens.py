import hashlib
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.accounts import tokens
from dashboard.models import AuditEntry, Person, Role, Scope, Token
from tests.dashboard.users import logged_in, person, problem, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

TOKENS = "/api/v1/tokens"
DAY_MS = 86_400_000


@pytest.fixture
def nadia() -> User:
    return person("nadia", Role.OPERATOR)


@pytest.fixture
def api(nadia: User) -> Client:
    return logged_in(nadia)


def make(api: Client, **body: Any) -> dict[str, Any]:
    response = api.post(TOKENS, {"name": "report", **body}, "application/json")
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()
    return made


def bearer(secret: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {secret}"})


def test_a_secret_is_shown_once_and_kept_as_a_hash(api: Client) -> None:
    made = make(api, scope="operate")
    secret = made["secret"]
    assert secret.startswith("ct_")
    assert len(secret) == 43
    assert secret.startswith(made["prefix"])
    kept = Token.objects.get()
    assert kept.digest == hashlib.sha256(secret.encode()).hexdigest()
    assert "secret" not in api.get(TOKENS).json()["items"][0]
    assert bearer(secret).get("/api/v1/me").json()["role"] == "operator"


def test_a_token_lasts_90_days_unless_told_otherwise(api: Client) -> None:
    made = make(api)
    assert made["expires_ms"] - made["created_ms"] == 90 * DAY_MS
    assert made["scope"] == "read"
    assert make(api, days=365)["expires_ms"] > made["expires_ms"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x", "days": 366}, "days"),
        ({"name": "x", "days": 0}, "days"),
        ({"name": "x", "scope": "administer"}, "scope"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({}, "name"),
    ],
)
def test_what_makes_no_sense_is_400_with_the_field_named(
    api: Client, body: dict[str, Any], field: str
) -> None:
    faults = problem(api.post(TOKENS, body, "application/json"), 400)["faults"]
    assert [fault["field"] for fault in faults] == [field]


def test_a_viewer_makes_no_token_that_operates() -> None:
    viewer = logged_in(person("eve"))
    response = viewer.post(TOKENS, {"name": "x", "scope": "operate"}, "application/json")
    assert "operator" in problem(response, 403)["detail"]


def test_a_token_may_no_more_than_its_owner_may_now(api: Client, nadia: User) -> None:
    client = bearer(make(api, scope="operate")["secret"])
    Person.objects.filter(user=nadia).update(role=Role.VIEWER)
    assert client.get("/api/v1/me").json()["role"] == "viewer"
    User.objects.filter(pk=nadia.pk).update(is_active=False)
    problem(client.get("/api/v1/me"), 401)


def test_a_revoked_token_is_refused(api: Client) -> None:
    made = make(api)
    assert api.delete(f"{TOKENS}/{made['id']}?reason=lost").status_code == 204
    assert "revoked" in problem(bearer(made["secret"]).get("/api/v1/me"), 401)["detail"]
    problem(api.delete(f"{TOKENS}/{made['id']}"), 404)
    assert AuditEntry.objects.get(action="token.revoked").reason == "lost"


def test_an_expired_token_is_refused_and_shown_as_expired(api: Client) -> None:
    made = make(api)
    Token.objects.update(expires_ms=time.time_ns() // 1_000_000 - 1)
    problem(bearer(made["secret"]).get("/api/v1/me"), 401)
    assert api.get(TOKENS).json()["items"][0]["expired"] is True


@pytest.mark.parametrize("secret", ["", "ct_", "ct_" + "x" * 40, "ct_" + "é" * 40, "x" * 5_000])
def test_a_token_that_is_none_is_401_and_no_cookie_helps_it(nadia: User, secret: str) -> None:
    client = logged_in(nadia, headers={"Authorization": f"Bearer {secret}"})
    response = client.get("/api/v1/me")
    problem(response, 401)
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_proxys_own_login_does_not_disturb_that_of_the_session(nadia: User) -> None:
    client = logged_in(nadia, headers={"Authorization": "Basic bmFkaWE6eA=="})
    assert client.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize("scope", Scope)
def test_a_token_manages_neither_tokens_nor_people(scope: Scope) -> None:
    client = with_token(person("root", Role.ADMIN), scope)
    for path in (TOKENS, "/api/v1/users"):
        assert "token" in problem(client.get(path), 403)["detail"]
        problem(client.post(path, {}, "application/json"), 403)


def test_other_peoples_tokens_are_neither_seen_nor_revoked(api: Client) -> None:
    made = make(api)
    other = logged_in(person("root", Role.ADMIN))
    assert other.get(TOKENS).json()["items"] == []
    problem(other.delete(f"{TOKENS}/{made['id']}"), 404)
    assert bearer(made["secret"]).get("/api/v1/me").status_code == 200


def test_the_last_use_is_noted_at_most_once_a_minute(api: Client) -> None:
    client = bearer(make(api)["secret"])

    def noted_ms() -> int:
        client.get("/api/v1/me")
        noted: int = api.get(TOKENS).json()["items"][0]["last_used_ms"]
        return noted

    first_ms = noted_ms()
    assert time.time_ns() // 1_000_000 - first_ms < 10_000
    assert noted_ms() == first_ms
    Token.objects.update(last_used_ms=first_ms - 61_000)
    assert noted_ms() >= first_ms


def test_making_and_revoking_are_in_the_audit_without_the_secret(api: Client) -> None:
    made = make(api)
    api.delete(f"{TOKENS}/{made['id']}")
    revoked, first = AuditEntry.objects.all()
    assert (first.who, first.action) == ("nadia", "token.made")
    assert first.after is not None
    assert first.after["scope"] == "read"
    assert revoked.action == "token.revoked"
    assert revoked.before is not None
    assert revoked.before["scope"] == "read"
    assert made["secret"] not in str(AuditEntry.objects.values())


def test_there_is_an_end_to_how_many(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_PER_PERSON", 2)
    make(api)
    make(api)
    body = problem(api.post(TOKENS, {"name": "x"}, "application/json"), 409)
    assert len(body["current"]["items"]) == 2

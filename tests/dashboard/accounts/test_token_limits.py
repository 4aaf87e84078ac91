import pytest
from django.test import Client

from dashboard.accounts import tokens
from dashboard.models import Scope
from dashboard.web import rate_limits
from dashboard.web.rate_limits import Limit
from tests.dashboard.conftest import NO_END_S
from tests.dashboard.users import person, problem, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

ME = "/api/v1/me"


def guess(address: str = "203.0.113.9") -> Client:
    return Client(headers={"Authorization": "Bearer ct_guess"}, REMOTE_ADDR=address)


def test_wrong_tokens_are_429_after_a_while_and_right_ones_still_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Counts start anew with every window: one that does not end while we count.
    monkeypatch.setattr(rate_limits, "TOKEN_FAILURES", Limit("token-failures", 20, NO_END_S))
    right = with_token(person("nadia"))
    for _ in range(20):
        problem(guess().get(ME), 401)
    response = guess().get(ME)
    problem(response, 429)
    assert 1 <= int(response["Retry-After"]) <= NO_END_S
    problem(guess("203.0.113.10").get(ME), 401)
    assert right.get(ME).status_code == 200


def test_a_token_that_is_used_too_often_is_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKEN_USES", Limit("token", 2, NO_END_S))
    nadia = person("nadia")
    busy, other = with_token(nadia), with_token(nadia)
    assert [busy.get(ME).status_code for _ in range(3)] == [200, 200, 429]
    assert other.get(ME).status_code == 200


def test_an_address_that_uses_many_tokens_is_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKEN_ADDRESS", Limit("token-address", 2, NO_END_S))
    nadia = person("nadia")
    clients = [with_token(nadia) for _ in range(3)]
    assert [client.get(ME).status_code for client in clients] == [200, 200, 429]


def test_a_use_that_was_refused_is_not_noted_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "TOKEN_USES", Limit("token", 0, NO_END_S))
    made = tokens.make(person("nadia"), "a script", Scope.READ)
    problem(Client(headers={"Authorization": f"Bearer {made.secret}"}).get(ME), 429)
    made.token.refresh_from_db()
    assert made.token.last_used_ms is None

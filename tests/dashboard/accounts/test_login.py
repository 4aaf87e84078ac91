from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.models import AuditEntry
from dashboard.store import the_store
from dashboard.testing.stack import RedisServer
from dashboard.web.rate_limits import LOGIN_ACCOUNT, LOGIN_ADDRESS
from tests.dashboard.conftest import NO_END_S
from tests.dashboard.users import PASSWORD, person

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("memory_store", "long_window"),
]


def log_in(name: str, password: str = "guess", address: str = "203.0.113.9") -> Any:
    body = {"username": name, "password": password}
    return Client().post("/login", body, REMOTE_ADDR=address)


def test_guessing_is_429_after_a_while_even_with_the_right_password() -> None:
    person("nadia")
    for _ in range(LOGIN_ACCOUNT.most):
        assert log_in("nadia").status_code == 200
    refused = log_in("Nadia", PASSWORD)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= NO_END_S
    assert b"Too many attempts" in refused.content
    assert "sessionid" not in refused.cookies


def test_others_and_the_same_person_elsewhere_still_log_in() -> None:
    person("nadia")
    person("eve")
    for _ in range(LOGIN_ACCOUNT.most + 1):
        log_in("nadia")
    assert log_in("eve", PASSWORD).status_code == 302
    assert log_in("nadia", PASSWORD, address="203.0.113.10").status_code == 302


def test_an_address_that_tries_many_names_is_429_too() -> None:
    person("nadia")
    for number in range(LOGIN_ADDRESS.most):
        assert log_in(f"name{number}").status_code == 200
    assert log_in("nadia", PASSWORD).status_code == 429
    assert log_in("nadia", PASSWORD, address="203.0.113.10").status_code == 302


def test_logging_in_often_is_no_guessing() -> None:
    person("nadia")
    for _ in range(LOGIN_ACCOUNT.most + 2):
        assert log_in("nadia", PASSWORD).status_code == 302


def test_the_audit_tells_once_and_never_what_was_typed() -> None:
    person("nadia")
    for _ in range(LOGIN_ACCOUNT.most + 5):
        log_in("nadia")
        log_in("my secret password", address="203.0.113.10")
    told = [(entry.who, entry.subject) for entry in AuditEntry.objects.all()]
    assert sorted(told) == [("203.0.113.10", "an unknown name"), ("203.0.113.9", "nadia")]


def test_without_redis_people_log_in_all_the_same(redis: RedisServer, settings: Settings) -> None:
    person("nadia")
    settings.STORE = "dashboard.store.redis.RedisStore"
    settings.REDIS_URL = redis.url
    redis.stop()
    the_store.cache_clear()
    assert log_in("nadia", PASSWORD).status_code == 302

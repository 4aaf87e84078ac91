"""Without a login or a token there is no page, no operation and no socket that tells anything.

All addresses are walked, so one that is added tomorrow is asked as well.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from dashboard.api import api
from dashboard.fleet import jobs
from dashboard.live.routes import routes
from dashboard.web import rate_limits
from dashboard.web.rate_limits import Limit
from tests.dashboard.live.test_consumers import socket
from tests.dashboard.users import problem
from tests.factories import ANNOUNCEMENT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

# Each needs a reason to be here: how to log in, out, and whether the server lives.
OPEN = {"/login", "/logout", "/healthz", "/readyz"}


def addresses(patterns: Any = None, before: str = "/") -> Iterator[str]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, path)
        else:
            assert isinstance(pattern, URLPattern)
            yield re.sub(r"<[^>]*>", ANNOUNCEMENT.job_id, re.sub(r"<int:[^>]*>", "1", path))


ADDRESSES = sorted(set(addresses()))


def operations() -> list[tuple[str, str]]:
    document = api.get_openapi_schema(path_prefix="/api/v1/")
    return [(m, p) for p, methods in document["paths"].items() for m in methods]


OPERATIONS = operations()


@pytest.fixture(autouse=True)
def recorded() -> None:
    jobs.record([ANNOUNCEMENT])


def test_the_walk_finds_what_there_is() -> None:
    assert {"/", "/people", "/audit", "/settings", "/jobs/orders.scored"} <= set(ADDRESSES)
    assert {"/incidents", "/incidents/1"} <= set(ADDRESSES)
    assert set(ADDRESSES) >= OPEN
    assert ("get", "/api/v1/jobs/{job_id}/windows") in OPERATIONS


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_without_a_login_every_address_leads_to_the_login(method: str) -> None:
    ways_in = [path for path in ADDRESSES if path not in OPEN and tells(method, path)]
    assert ways_in == []


def tells(method: str, path: str) -> bool:
    response = getattr(Client(), method)(path)
    if b"orders" in response.content:
        return True
    if response.status_code == 302:
        return not response["Location"].startswith("/login?next=")
    if path == "/api/v1/":
        return bool(response.status_code != 404)  # nothing is there, for nobody
    # Prometheus looks at /metrics, and is answered as the API answers.
    of_api = path.startswith("/api/") or path == "/metrics"
    return not of_api or response.status_code not in (401, 405)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer ct_guess"}])
def test_without_a_token_every_operation_is_401(
    headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "TOKEN_FAILURES", Limit("many", 10_000, 60))
    client = Client(headers=headers)
    for method, path in OPERATIONS:
        filled = re.sub(r"{[^}]*}", "1", path)
        body = {} if method == "get" else {"data": b"{}", "content_type": "application/json"}
        assert problem(getattr(client, method)(filled, **body), 401)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("route", [str(route.pattern) for route in routes])
async def test_without_a_login_every_socket_closes(route: str) -> None:
    browser = socket("/" + re.sub(r"<[^>]*>", ANNOUNCEMENT.job_id, route))
    await browser.connect()
    assert (await browser.receive_output())["code"] == 4401

"""The API keeps to its own OpenAPI document, whatever it is sent.

Schemathesis makes requests from the document, good and bad ones, always the same (so that a fault
does not come and go), and checks every answer against it.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from collectors.formats import activity, keys
from collectors.formats.wire import encode
from dashboard.api import api
from dashboard.fleet import jobs
from dashboard.models import Incident, Role
from dashboard.store.memory import MemoryStore
from tests.dashboard.users import logged_in, person
from tests.factories import ACTIVITIES, ANNOUNCEMENT, FULL_FRAME, START_MS

pytestmark = pytest.mark.django_db

EXAMPLES = 20
CSRF = "c" * 32
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(dict(api.get_openapi_schema(path_prefix="/api/v1/")))
schema.app = WSGIHandler()
schema.config.generation.update(with_security_parameters=False)

# Ids that exist, half of the time: by chance alone nearly all would be 404.
KNOWN: dict[str, Any] = {"job_id": ANNOUNCEMENT.job_id, "metric": "host_cpu"}


@schema.hook
def map_path_parameters(_context: Any, path_parameters: dict[str, Any] | None) -> Any:
    return {
        name: KNOWN[name] if name in KNOWN and len(str(value)) % 2 else value
        for name, value in (path_parameters or {}).items()
    }


@schema.hook
def map_query(_context: Any, query: dict[str, Any] | None) -> Any:
    """Likewise ranges of which the end comes after the start."""
    start, end = (query or {}).get("start_ms"), (query or {}).get("end_ms")
    if query and isinstance(start, int) and isinstance(end, int) and end % 2:
        return {**query, "start_ms": START_MS, "end_ms": START_MS + end % 900_000 + 1}
    return query


@pytest.fixture
def admin(memory_store: MemoryStore) -> Iterator[Client]:
    jobs.record([ANNOUNCEMENT])
    job_id = ANNOUNCEMENT.job_id
    memory_store.append(keys.frames(job_id), START_MS, encode(FULL_FRAME))
    memory_store.append(keys.activities(job_id), START_MS, activity.encode(ACTIVITIES))
    client = logged_in(person("root", Role.ADMIN))
    KNOWN["incident_id"] = Incident.objects.create(job_id=job_id, kind="gc", onset_ms=START_MS).pk
    KNOWN["user_id"] = person("eve").pk
    KNOWN["token_id"] = client.post("/api/v1/tokens", {"name": "x"}, "application/json").json()[
        "id"
    ]
    webhook = {"name": "x", "url": "https://hooks.example.org/"}
    made = client.post("/api/v1/webhooks", webhook, "application/json").json()
    KNOWN["webhook_id"] = made["id"]
    test = client.post(f"/api/v1/webhooks/{made['id']}/test", {}, "application/json")
    KNOWN["delivery_id"] = test.json()["id"]
    # Django's own client sees to it that no request closes the test's connection; ours does not.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield client
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_to_the_document(case: Any, admin: Client) -> None:
    cookies = {"sessionid": admin.cookies["sessionid"].value, "csrftoken": CSRF}
    response = case.call(cookies=cookies, headers={"X-CSRFToken": CSRF})
    assert response.status_code not in (401, 403), "the admin was locked out of the rest"
    case.validate_response(response, checks=CHECKS)


def test_the_document_knows_the_errors_of_every_operation() -> None:
    document = api.get_openapi_schema(path_prefix="/api/v1/")
    for methods in document["paths"].values():
        for operation in methods.values():
            statuses = {str(status) for status in operation["responses"]}
            assert statuses >= {"400", "401", "403", "429"}
            assert operation["security"]


def test_tokens_are_no_way_to_manage_tokens_or_people() -> None:
    document = api.get_openapi_schema(path_prefix="/api/v1/")
    for path, methods in document["paths"].items():
        ways = {name for one in methods.values() for each in one["security"] for name in each}
        managed = path.startswith(("/api/v1/users", "/api/v1/tokens"))
        assert ways == ({"Session"} if managed else {"Session", "Bearer"})

"""Endpoints that alerts go to."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.conf import settings
from django.db.models import Count, Q
from django.http import HttpRequest
from ninja import Router, Schema, Status
from ninja.errors import HttpError
from pydantic import Field, StringConstraints

from dashboard.accounts.roles import Role, caller, operators
from dashboard.alerts import endpoints, guard
from dashboard.alerts.events import SUBSCRIBABLE, Severity, Type
from dashboard.alerts.formats import Format
from dashboard.api.fields import Reason, ReasonQuery, RowId
from dashboard.api.problems import BadInput, Conflict
from dashboard.models import Delivery, Endpoint, Job

router = Router(tags=["webhooks"])

MOST_KINDS = 50
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Url = Annotated[
    str,
    StringConstraints(min_length=1, max_length=guard.LONGEST_URL),
    Field(description="http or https, public unless CURTAIL_WEBHOOK_ALLOWED_NETWORKS has it"),
]
JobId = Annotated[str, Field(max_length=120, description="of one job; empty for all")]
Events = Annotated[
    list[Type], Field(max_length=len(Type), description="empty for all; a test is no choice")
]
Kind = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Kinds = Annotated[
    list[Kind],
    Field(max_length=MOST_KINDS, description="of incidents, or names of techniques; empty for all"),
]
RoutingKey = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]*$", max_length=100),
    Field(description="of a PagerDuty service; never shown again"),
]
Version = Annotated[
    int, Field(ge=0, lt=2**63, description="of the endpoint that you saw; 409 if it has changed")
]


class EndpointOut(Schema):
    id: int
    name: str
    url: str
    """To viewers without its path, which may be a secret."""
    format: Format
    job: str | None
    events: list[Type]
    kinds: list[str]
    least_severity: Severity
    has_routing_key: bool
    active: bool
    disabled_because: str
    paused_until_ms: int | None
    previous_secret_until_ms: int | None
    waiting: int
    failed: int
    """Given up, as far back as deliveries are kept."""
    created_ms: int
    version: int


class EndpointsOut(Schema):
    items: list[EndpointOut]


class EndpointWithSecret(EndpointOut):
    secret: str
    """Shown this once."""


class EndpointIn(Schema):
    name: Name
    url: Url
    format: Format = Format.STANDARD
    job: JobId = ""
    events: Events = Field(default_factory=list)
    kinds: Kinds = Field(default_factory=list)
    least_severity: Severity = Severity.INFO
    routing_key: RoutingKey = ""
    reason: Reason = ""


class EndpointChange(Schema):
    """Fields that are left out stay as they are."""

    name: Name | None = None
    url: Url | None = None
    format: Format | None = None
    job: JobId | None = None
    events: Events | None = None
    kinds: Kinds | None = None
    least_severity: Severity | None = None
    routing_key: RoutingKey | None = None
    active: bool | None = None
    version: Version
    reason: Reason = ""


class ReasonIn(Schema):
    reason: Reason = ""


@router.get("", response=EndpointsOut, summary="Where alerts go")
def webhooks(request: HttpRequest) -> dict[str, Any]:
    return {"items": [_shown(request, endpoint) for endpoint in _counted()]}


@router.post("", response={201: EndpointWithSecret}, auth=operators, summary="Add an endpoint")
def add_webhook(request: HttpRequest, body: EndpointIn) -> Status[dict[str, Any]]:
    """The answer holds the secret that messages are signed with. It is shown only once."""
    fields = _checked(body.dict(exclude={"reason"}))
    if body.format == Format.PAGERDUTY and not body.routing_key:
        raise BadInput("routing_key", "PagerDuty needs the routing key of a service")
    try:
        added = endpoints.add(fields, caller(request).who, body.reason, _now_ms())
    except endpoints.TooManyEndpoints as error:
        raise Conflict(str(error), webhooks(request)) from None
    return Status(201, {**_shown(request, _found(added.pk)), "secret": added.secret})


@router.patch("/{webhook_id}", response=EndpointOut, auth=operators, summary="Change an endpoint")
def change_webhook(request: HttpRequest, webhook_id: RowId, body: EndpointChange) -> dict[str, Any]:
    """Also enables a disabled endpoint and ends a pause that its receiver asked for."""
    given = body.dict(exclude={"reason", "version"}, exclude_none=True)
    with _told(request, webhook_id):
        now = _found(webhook_id)
        fields = _checked(given)
        wanted = Format(fields.get("format", now.format))
        if wanted == Format.PAGERDUTY and not fields.get("routing_key", now.routing_key):
            raise BadInput("routing_key", "PagerDuty needs the routing key of a service")
        who = caller(request).who
        endpoints.change(webhook_id, fields, body.version, who, body.reason, _now_ms())
    return _shown(request, _found(webhook_id))


@router.delete("/{webhook_id}", response={204: None}, auth=operators, summary="Delete an endpoint")
def delete_webhook(
    request: HttpRequest, webhook_id: RowId, reason: ReasonQuery = ""
) -> Status[None]:
    """Also deletes its delivery log; pending messages are not sent any more."""
    with _told(request, webhook_id):
        endpoints.delete(webhook_id, caller(request).who, reason)
    return Status(204, None)


@router.post(
    "/{webhook_id}/rotate", response=EndpointWithSecret, auth=operators, summary="A new secret"
)
def rotate_secret(request: HttpRequest, webhook_id: RowId, body: ReasonIn) -> dict[str, Any]:
    """The new secret is shown only once. The old one also signs messages for 24 hours."""
    with _told(request, webhook_id):
        rotated = endpoints.rotate(webhook_id, caller(request).who, body.reason, _now_ms())
    return {**_shown(request, _found(webhook_id)), "secret": rotated.secret}


@contextmanager
def _told(request: HttpRequest, webhook_id: int) -> Iterator[None]:
    try:
        yield
    except Endpoint.DoesNotExist:
        raise HttpError(404, f"no webhook {webhook_id}") from None
    except endpoints.Outdated:
        current = _shown(request, _found(webhook_id))
        raise Conflict("somebody changed this endpoint meanwhile", current) from None


def _checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields as they are stored. Addresses of a name are checked when connecting."""
    if "url" in fields:
        try:
            allowed = settings.WEBHOOK_ALLOWED_NETWORKS
            fields["url"] = str(guard.checked_url(fields["url"], allowed))
        except guard.Refused as refused:
            raise BadInput("url", str(refused)) from None
    if fields.get("job") and not Job.objects.filter(pk=fields["job"]).exists():
        raise BadInput("job", "no such job")
    if not set(fields.get("events", ())) <= set(SUBSCRIBABLE):
        raise BadInput("events", f"one of {', '.join(SUBSCRIBABLE)}")
    return fields


def _counted() -> Any:
    states = Delivery.State
    return Endpoint.objects.annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state=states.PENDING)),
        failed=Count("deliveries", filter=Q(deliveries__state=states.FAILED)),
    )


def _found(webhook_id: int) -> Any:
    return _counted().get(pk=webhook_id)


def _shown(request: HttpRequest, endpoint: Any) -> dict[str, Any]:
    now_ms = _now_ms()
    operates = caller(request).role.includes(Role.OPERATOR)
    return {
        "id": endpoint.pk,
        "name": endpoint.name,
        "url": endpoint.url if operates else endpoints.masked(endpoint.url),
        "format": endpoint.format,
        "job": endpoint.job or None,
        "events": endpoint.events,
        "kinds": endpoint.kinds,
        "least_severity": endpoint.least_severity,
        "has_routing_key": bool(endpoint.routing_key),
        "active": endpoint.active,
        "disabled_because": endpoint.disabled_because,
        "paused_until_ms": _later(endpoint.paused_until_ms, now_ms),
        "previous_secret_until_ms": _later(endpoint.previous_until_ms, now_ms),
        "waiting": endpoint.waiting,
        "failed": endpoint.failed,
        "created_ms": endpoint.created_ms,
        "version": endpoint.version,
    }


def _later(at_ms: int, now_ms: int) -> int | None:
    return at_ms if at_ms > now_ms else None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

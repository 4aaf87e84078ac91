"""What was sent to an endpoint, and sending it again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from ninja.errors import HttpError

from dashboard.accounts.roles import Role, caller, operators
from dashboard.alerts import endpoints
from dashboard.alerts.events import Severity, Type
from dashboard.api.fields import Reason, RowId
from dashboard.api.paging import Cursor, Limit, newest_first
from dashboard.api.problems import Conflict
from dashboard.models import Attempt, Delivery, Endpoint
from dashboard.web import rate_limits
from dashboard.web.rate_limits import Use

of_webhooks = Router(tags=["webhooks"])
router = Router(tags=["webhooks"])

ATTEMPTS_SHOWN = 5


class AttemptOut(Schema):
    number: int
    at_ms: int
    duration_ms: int
    status: int | None
    error: str
    response: str | None
    """Its first 2 KB, for admins; others get null."""


class DeliveryOut(Schema):
    id: int
    webhook_id: str
    """As in the header of that name: the same for every attempt and replay."""
    type: Type
    job: str
    title: str
    severity: Severity
    state: Delivery.State
    because: str
    created_ms: int
    due_ms: int | None
    """Of the next attempt."""
    done_ms: int | None
    attempts: int
    log: list[AttemptOut]
    """The latest attempts, newest first."""


class DeliveriesOut(Schema):
    items: list[DeliveryOut]
    next: str | None


class ReasonIn(Schema):
    reason: Reason = ""


@of_webhooks.get("/{webhook_id}/deliveries", response=DeliveriesOut, summary="What was sent")
def deliveries(
    request: HttpRequest, webhook_id: RowId, limit: Limit = 50, cursor: Cursor = None
) -> dict[str, Any]:
    if not Endpoint.objects.filter(pk=webhook_id).exists():
        raise HttpError(404, f"no webhook {webhook_id}")
    rows = Delivery.objects.filter(endpoint=webhook_id).select_related("event")
    page = newest_first(rows, cursor, limit)
    return {"items": _shown(request, page.items), "next": page.next}


@of_webhooks.post(
    "/{webhook_id}/test", response={202: DeliveryOut}, auth=operators, summary="Send a test"
)
def send_test(request: HttpRequest, webhook_id: RowId, body: ReasonIn) -> Status[dict[str, Any]]:
    """The worker sends it within a second or two; the result is listed with the deliveries. A test
    that fails is not tried again."""
    asking = caller(request)
    with _told(request, f"no webhook {webhook_id}", None):
        _count(asking.user.pk)
        sent = endpoints.send_test(webhook_id, asking.who, body.reason, _now_ms())
    return Status(202, _one(request, sent.pk))


@router.post("/{delivery_id}/replay", response=DeliveryOut, auth=operators, summary="Send it again")
def replay_delivery(request: HttpRequest, delivery_id: RowId, body: ReasonIn) -> dict[str, Any]:
    """Sends the message again with the same `webhook-id` and a new 24 hours of attempts."""
    asking = caller(request)
    with _told(request, f"no delivery {delivery_id}", delivery_id):
        _count(asking.user.pk)
        endpoints.replay(delivery_id, asking.who, body.reason, _now_ms())
    return _one(request, delivery_id)


@contextmanager
def _told(request: HttpRequest, unknown: str, delivery_id: int | None) -> Iterator[None]:
    try:
        yield
    except (Endpoint.DoesNotExist, Delivery.DoesNotExist):
        raise HttpError(404, unknown) from None
    except endpoints.Disabled as error:
        current = _one(request, delivery_id) if delivery_id else None
        raise Conflict(str(error), current) from None


def _count(user_id: int) -> None:
    rate_limits.count(Use(rate_limits.WEBHOOK_SENDS, str(user_id)))


def _one(request: HttpRequest, delivery_id: int) -> dict[str, Any]:
    found = Delivery.objects.select_related("event").get(pk=delivery_id)
    return _shown(request, [found])[0]


def _shown(request: HttpRequest, found: list[Delivery]) -> list[dict[str, Any]]:
    reads_answers = caller(request).role.includes(Role.ADMIN)
    logs: dict[int, list[dict[str, Any]]] = {delivery.pk: [] for delivery in found}
    for attempt in Attempt.objects.filter(delivery__in=logs).order_by("-id"):
        log = logs[attempt.delivery_id]
        if len(log) < ATTEMPTS_SHOWN:
            log.append(_attempt(attempt, reads_answers))
    return [_delivery(delivery, logs[delivery.pk]) for delivery in found]


def _delivery(delivery: Delivery, log: list[dict[str, Any]]) -> dict[str, Any]:
    event = delivery.event
    return {
        "id": delivery.pk,
        "webhook_id": event.webhook_id,
        "type": event.type,
        "job": event.job,
        "title": event.event["title"],
        "severity": event.event["severity"],
        "state": delivery.state,
        "because": delivery.because,
        "created_ms": event.at_ms,
        "due_ms": delivery.due_ms if delivery.state == Delivery.State.PENDING else None,
        "done_ms": delivery.done_ms,
        "attempts": delivery.attempts,
        "log": log,
    }


def _attempt(attempt: Attempt, reads_answers: bool) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "at_ms": attempt.at_ms,
        "duration_ms": attempt.duration_ms,
        "status": attempt.status,
        "error": attempt.error,
        # A receiver's answer may hold anything, an internal page for instance.
        "response": attempt.response if reads_answers else None,
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

"""Leases on deliveries: a worker takes a delivery with a lease and settles it while it holds it.

A worker that is killed settles nothing; its lease runs out and the message goes out again under
the same id. A worker that was merely slow finds its lease taken over and changes nothing.
"""

import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, Min, OuterRef, QuerySet

from dashboard.alerts import endpoints, schedule
from dashboard.alerts.events import Type
from dashboard.alerts.sender import Answer
from dashboard.models import Attempt, Delivery, Endpoint

log = logging.getLogger(__name__)

PENDING = Delivery.State.PENDING
# With these statuses Retry-After pauses the whole endpoint, not only this message.
COME_BACK_LATER = (429, 503)


@dataclass(frozen=True)
class Taken:
    delivery_id: int
    endpoint_id: int
    lease: str
    webhook_id: str
    event: Mapping[str, Any]
    url: str
    format: str
    routing_key: str
    secrets: tuple[str, ...]


def take(now_ms: int, lease_ms: int, most: int, only: int | None = None) -> list[Taken]:
    """Leases at most one delivery per endpoint, longest due first; `only`: of this endpoint."""
    ready = _ready(now_ms)
    if only is not None:
        ready = ready.filter(endpoint=only)
    # Query without locks first: most of the time nothing is due.
    by_age = ready.values("endpoint").annotate(oldest=Min("due_ms")).order_by("oldest")
    ids = [row["endpoint"] for row in by_age[:most]]
    if not ids:
        return []
    with transaction.atomic():
        # A worker that locked an endpoint's row leases its deliveries; others skip that endpoint
        # (SQLite has one writer anyway). no_key: publishing inserts rows that refer to the
        # endpoint, and must not wait for this lock.
        free = Endpoint.objects.select_for_update(skip_locked=True, no_key=True)
        free = free.filter(pk__in=ids)
        found = [_leased(endpoint, now_ms, lease_ms) for endpoint in free]
    return [taken for taken in found if taken]


def settle(
    taken: Taken, answer: Answer, started_ms: int, now_ms: int, random: Callable[[], float]
) -> None:
    with transaction.atomic():
        # All writers to deliveries lock the endpoint first, so there is no deadlock.
        locked = Endpoint.objects.select_for_update(no_key=True)
        endpoint = locked.filter(pk=taken.endpoint_id).first()
        kept = Delivery.objects.select_related("event").filter(pk=taken.delivery_id)
        delivery = kept.first() if endpoint else None
        if endpoint is None or delivery is None:
            return  # deleted meanwhile
        delivery.attempts += 1
        Attempt.objects.create(
            delivery=delivery,
            number=delivery.attempts,
            at_ms=started_ms,
            duration_ms=answer.duration_ms,
            status=answer.status,
            error=answer.error[:200],
            response=answer.body,
        )
        if delivery.lease != taken.lease:
            delivery.save(update_fields=["attempts"])
            return
        delivery.lease, delivery.leased_until_ms = "", 0
        if answer.delivered:
            _finish(delivery, Delivery.State.DELIVERED, "", now_ms)
        else:
            _failed(delivery, answer, now_ms, random)
        delivery.save()
        if answer.gone:
            endpoints.disable(endpoint, "it answered 410 Gone", "curtail", now_ms)


def _failed(delivery: Delivery, answer: Answer, now_ms: int, random: Callable[[], float]) -> None:
    delivery.failed += 1
    waits_ms = schedule.retry_after_ms(answer.retry_after, now_ms)
    due_ms = schedule.next_due_ms(delivery.failed, delivery.first_ms, now_ms, waits_ms, random)
    told = answer.error or f"it answered {answer.status}"
    if delivery.event.type == Type.TEST:
        # No retries: the person who pressed the button sees the failure and can press again.
        _finish(delivery, Delivery.State.FAILED, told[:200], now_ms)
        return
    if due_ms is None:
        log.warning("gave up on %s after 24 h", delivery)
        _finish(delivery, Delivery.State.FAILED, "gave up after 24 h", now_ms)
        return
    delivery.due_ms = due_ms
    delivery.because = told[:200]
    if waits_ms and answer.status in COME_BACK_LATER:
        Endpoint.objects.filter(pk=delivery.endpoint_id).update(paused_until_ms=now_ms + waits_ms)


def _finish(delivery: Delivery, state: Delivery.State, because: str, now_ms: int) -> None:
    delivery.state, delivery.because, delivery.done_ms = state, because, now_ms


def _ready(now_ms: int) -> QuerySet[Delivery]:
    """The deliveries that are due and whose endpoint has no attempt running."""
    pending = Delivery.objects.filter(state=PENDING)
    same = pending.filter(endpoint=OuterRef("endpoint"))
    # A "resolved" must not be sent before the "opened" that is still being retried.
    before_it = same.filter(event__subject=OuterRef("event__subject"), pk__lt=OuterRef("pk"))
    on_its_way = same.filter(leased_until_ms__gt=now_ms)
    return pending.filter(
        ~Exists(before_it),
        ~Exists(on_its_way),
        due_ms__lte=now_ms,
        endpoint__active=True,
        endpoint__paused_until_ms__lte=now_ms,
    )


def _leased(endpoint: Endpoint, now_ms: int, lease_ms: int) -> Taken | None:
    """Leases the endpoint's next delivery. Queries again because it may have been taken since."""
    ready = _ready(now_ms).filter(endpoint=endpoint).select_related("event").order_by("pk")
    delivery = ready.first()
    if delivery is None:
        return None
    delivery.lease, delivery.leased_until_ms = uuid.uuid4().hex, now_ms + lease_ms
    delivery.save(update_fields=["lease", "leased_until_ms"])
    return Taken(
        delivery_id=delivery.pk,
        endpoint_id=endpoint.pk,
        lease=delivery.lease,
        webhook_id=delivery.event.webhook_id,
        event=delivery.event.event,
        url=endpoint.url,
        format=endpoint.format,
        routing_key=endpoint.routing_key,
        secrets=endpoints.valid_secrets(endpoint, now_ms),
    )

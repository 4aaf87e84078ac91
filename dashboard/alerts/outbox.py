"""Writes an event in the transaction of the change it reports: both are committed or neither."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from dashboard.alerts.events import ENDINGS, Event, Severity
from dashboard.alerts.evidence import plain
from dashboard.models import AlertEvent, Delivery, Endpoint


def publish(event: Event, now_ms: int | None = None) -> None:
    """Call it in the transaction of the change. One query if no endpoint subscribed to it."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("publish() belongs in the transaction of the change that it tells of")
    if wanting := _wanting(event):
        enqueue(event, wanting, _now_ms(now_ms))


@transaction.atomic
def publish_state(event: Event, now_ms: int | None = None) -> None:
    """For a state that is looked at again and again: an endpoint is told of its beginning if it
    knows of none, and of its end if it knows of the beginning."""
    wanting = [each for each in _wanting(event) if _knows_of(each, event) == event.is_ending]
    if wanting:
        enqueue(event, wanting, _now_ms(now_ms))


def last_told(event: Event) -> AlertEvent | None:
    """The last event about the same subject that anybody was to be told of."""
    return AlertEvent.objects.filter(subject=event.subject[:250]).order_by("-pk").first()


def _wanting(event: Event) -> list[Endpoint]:
    listening = Endpoint.objects.filter(active=True, job__in=["", event.job])
    return [endpoint for endpoint in listening if wants(endpoint, event)]


def _now_ms(given_ms: int | None) -> int:
    return time.time_ns() // 1_000_000 if given_ms is None else given_ms


def wants(endpoint: Endpoint, event: Event) -> bool:
    if endpoint.job and endpoint.job != event.job:
        return False
    if endpoint.events and event.type not in endpoint.events:
        return False
    if endpoint.kinds and event.kind not in endpoint.kinds:
        return False
    if event.severity.rank >= Severity(endpoint.least_severity).rank:
        return True
    return event.is_ending and _knows_of(endpoint, event)


def _knows_of(endpoint: Endpoint, event: Event) -> bool:
    """Whether the endpoint got the beginning: then it also gets the end, of any severity."""
    told = Delivery.objects.filter(endpoint=endpoint, event__subject=event.subject[:250])
    last = told.order_by("-pk").values_list("event__type", flat=True).first()
    return last is not None and last not in ENDINGS


@transaction.atomic
def enqueue(event: Event, endpoints: Sequence[Endpoint], now_ms: int) -> list[Delivery]:
    kept = AlertEvent.objects.create(
        webhook_id=f"msg_{uuid.uuid4().hex}",
        type=event.type,
        job=event.job,
        subject=event.subject[:250],
        event=replace(event, evidence=plain(event.evidence)).as_dict(),
        at_ms=now_ms,
    )
    return [
        Delivery.objects.create(event=kept, endpoint=each, first_ms=now_ms, due_ms=now_ms)
        for each in endpoints
    ]

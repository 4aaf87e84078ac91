"""Adds, changes, tests and disables endpoints and rotates their secrets; all of it is audited."""

import hashlib
from collections.abc import Mapping
from typing import Any

import httpx
from django.db import transaction

from dashboard.accounts import audit
from dashboard.alerts import events, outbox, signing
from dashboard.models import Delivery, Endpoint

MOST = 100
PREVIOUS_LASTS_MS = 86_400_000


class TooManyEndpoints(Exception):
    pass


class Outdated(Exception):
    """The endpoint was changed after the operator loaded it."""


class Disabled(Exception):
    """Nothing is sent to an endpoint that is disabled."""


def valid_secrets(endpoint: Endpoint, now_ms: int) -> tuple[str, ...]:
    if endpoint.previous_secret and now_ms < endpoint.previous_until_ms:
        return (endpoint.secret, endpoint.previous_secret)
    return (endpoint.secret,)


def masked(url: str) -> str:
    """Returns the URL without its path, which for many services is the secret."""
    found = httpx.URL(url)
    return f"{found.scheme}://{found.netloc.decode()}/…"


@transaction.atomic
def add(fields: Mapping[str, Any], who: str, reason: str, now_ms: int) -> Endpoint:
    if Endpoint.objects.count() >= MOST:
        raise TooManyEndpoints(f"{MOST} endpoints are the most; delete one first")
    endpoint = Endpoint.objects.create(**fields, secret=signing.new_secret(), created_ms=now_ms)
    _audit(endpoint, "added", who, None, told(endpoint), reason)
    return endpoint


@transaction.atomic
def change(
    endpoint_id: int, fields: Mapping[str, Any], version: int, who: str, reason: str, now_ms: int
) -> Endpoint:
    """Raises `Endpoint.DoesNotExist` or `Outdated`."""
    endpoint = _locked(endpoint_id)
    if endpoint.version != version:
        raise Outdated
    before = told(endpoint)
    for name, value in fields.items():
        setattr(endpoint, name, value)
    if told(endpoint) == before:
        return endpoint
    endpoint.version += 1
    endpoint.paused_until_ms = 0
    if endpoint.active:
        endpoint.disabled_because = ""
    else:
        endpoint.disabled_because = f"by {who}"[:200]
        _drop_waiting(endpoint, now_ms)
    endpoint.save()
    _audit(endpoint, "changed", who, before, told(endpoint), reason)
    return endpoint


@transaction.atomic
def delete(endpoint_id: int, who: str, reason: str) -> None:
    endpoint = _locked(endpoint_id)
    _audit(endpoint, "deleted", who, told(endpoint), None, reason)
    endpoint.delete()


@transaction.atomic
def rotate(endpoint_id: int, who: str, reason: str, now_ms: int) -> Endpoint:
    """Makes a new secret. The old one also signs for a day, so receivers have time to switch."""
    endpoint = _locked(endpoint_id)
    endpoint.previous_secret, endpoint.secret = endpoint.secret, signing.new_secret()
    endpoint.previous_until_ms = now_ms + PREVIOUS_LASTS_MS
    endpoint.version += 1
    endpoint.save()
    after = {"previous_until_ms": endpoint.previous_until_ms}
    _audit(endpoint, "secret-rotated", who, None, after, reason)
    return endpoint


@transaction.atomic
def send_test(endpoint_id: int, who: str, reason: str, now_ms: int) -> Delivery:
    endpoint = _locked(endpoint_id)
    _wake(endpoint)
    (delivery,) = outbox.enqueue(events.trial(now_ms, endpoint.job, who), [endpoint], now_ms)
    _audit(endpoint, "tested", who, None, None, reason)
    return delivery


@transaction.atomic
def replay(delivery_id: int, who: str, reason: str, now_ms: int) -> Delivery:
    """Sends a delivery again under the same id, so that receivers can recognise a duplicate."""
    delivery = Delivery.objects.select_related("event").get(pk=delivery_id)
    endpoint = _locked(delivery.endpoint_id)
    _wake(endpoint)
    before = str(delivery.state)
    changes = {"state": Delivery.State.PENDING, "because": "", "failed": 0, "done_ms": None}
    # An attempt that is running keeps its lease; if it fails, the delivery is due immediately.
    Delivery.objects.filter(pk=delivery_id).update(**changes, first_ms=now_ms, due_ms=now_ms)
    delivery.refresh_from_db()
    about = {"message": delivery.event.webhook_id, "state": before}
    _audit(endpoint, "replayed", who, about, None, reason)
    return delivery


def disable(endpoint: Endpoint, because: str, who: str, now_ms: int) -> None:
    """Disables the endpoint. The caller must have opened a transaction."""
    endpoint = _locked(endpoint.pk)
    if not endpoint.active:
        return
    before = told(endpoint)
    endpoint.active, endpoint.disabled_because = False, because[:200]
    endpoint.version += 1
    endpoint.save()
    _drop_waiting(endpoint, now_ms)
    _audit(endpoint, "disabled", who, before, told(endpoint), because)


def told(endpoint: Endpoint) -> dict[str, Any]:
    """Returns the endpoint as the audit records it: fingerprints in place of secrets."""
    return {
        "name": endpoint.name,
        "url": f"{masked(endpoint.url)} ({_fingerprint(endpoint.url)})",
        "format": endpoint.format,
        "job": endpoint.job or "all",
        "events": endpoint.events,
        "kinds": endpoint.kinds,
        "least_severity": endpoint.least_severity,
        "routing_key": _fingerprint(endpoint.routing_key) if endpoint.routing_key else "none",
        "active": endpoint.active,
    }


def _fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:8]


def _locked(endpoint_id: int) -> Endpoint:
    return Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)


def _wake(endpoint: Endpoint) -> None:
    """Ends a pause that the receiver asked for, because an operator wants a message sent now."""
    if not endpoint.active:
        raise Disabled("this endpoint is disabled; enable it first")
    Endpoint.objects.filter(pk=endpoint.pk).update(paused_until_ms=0)


def _drop_waiting(endpoint: Endpoint, now_ms: int) -> None:
    """Fails the pending deliveries: enabling the endpoint next week must not send last week's."""
    waiting = Delivery.objects.filter(endpoint=endpoint, state=Delivery.State.PENDING)
    waiting.update(
        state=Delivery.State.FAILED,
        because="the endpoint was disabled",
        done_ms=now_ms,
        lease="",
        leased_until_ms=0,
    )


def _audit(endpoint: Endpoint, verb: str, who: str, before: Any, after: Any, reason: str) -> None:
    job = endpoint.job or None
    audit.record(who, f"webhook.{verb}", endpoint.name, job, before, after, reason)

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.db import transaction

from dashboard.alerts import outbox
from dashboard.alerts.events import Event, Severity, Type
from dashboard.alerts.evidence import MOST_BYTES
from dashboard.models import AlertEvent, Delivery
from tests.dashboard.alerts.made import OPENED, REFUSED, RESOLVED, endpoint, opened

pytestmark = pytest.mark.django_db


def publish(event: Event) -> list[str]:
    """Who is going to hear of it."""
    before = Delivery.objects.count()
    with transaction.atomic():
        outbox.publish(event)
    return [each.endpoint.name for each in Delivery.objects.order_by("pk")[before:]]


@pytest.mark.parametrize(
    ("filters", "hears"),
    [
        ({}, True),
        ({"job": "orders.scored"}, True),
        ({"job": "orders"}, False),
        ({"events": ["incident.opened", "slo.violated"]}, True),
        ({"events": ["incident.resolved"]}, False),
        ({"kinds": ["shadowsync"]}, True),
        ({"kinds": ["skew"]}, False),
        ({"least_severity": "critical"}, True),
        ({"active": False}, False),
    ],
)
def test_an_endpoint_hears_what_it_asked_for(filters: dict[str, Any], hears: bool) -> None:
    endpoint(**filters)
    assert publish(OPENED) == (["on call"] if hears else [])


@pytest.mark.parametrize("least", Severity)
@pytest.mark.parametrize("severity", Severity)
def test_severities_are_in_order(least: Severity, severity: Severity) -> None:
    endpoint(least_severity=least)
    order = ["info", "warning", "critical"]
    assert bool(publish(opened(severity=severity))) == (order.index(severity) >= order.index(least))


def test_an_event_that_nobody_wants_leaves_nothing() -> None:
    endpoint(job="another.job")
    publish(OPENED)
    assert not AlertEvent.objects.exists()


def test_who_was_told_of_the_beginning_is_told_of_the_end_however_mild() -> None:
    endpoint(least_severity="critical")
    assert publish(RESOLVED) == []
    publish(OPENED)
    assert publish(RESOLVED) == ["on call"]
    assert publish(RESOLVED) == []
    assert publish(replace(RESOLVED, incident_id=8)) == []


def test_what_is_applied_ends_what_was_refused() -> None:
    endpoint(least_severity="warning")
    publish(REFUSED)
    applied = replace(REFUSED, type=Type.TECHNIQUE_APPLIED, severity=Severity.INFO)
    assert publish(applied) == ["on call"]


def test_a_change_that_is_rolled_back_is_told_to_nobody() -> None:
    endpoint()
    with transaction.atomic():
        outbox.publish(OPENED)
        transaction.set_rollback(True)
    assert not AlertEvent.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_nothing_is_published() -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        outbox.publish(OPENED)


def test_an_event_is_kept_as_it_was() -> None:
    endpoint()
    publish(OPENED)
    assert Event.of(AlertEvent.objects.get().event) == OPENED


def test_evidence_is_kept_whatever_detectors_put_there() -> None:
    endpoint()
    found = {
        "p99": np.float64(12.5),
        "n": np.int64(3),
        "array": np.array([1.0, np.nan]),
        "nan": math.nan,
        "nul": "a\x00b",
        "deep": {"infinite": [math.inf, 1.5], 4: Severity.INFO},
        "what": {1, 2}.__class__,
    }
    publish(opened(evidence=found))
    kept = AlertEvent.objects.get().event["evidence"]
    assert kept == {
        "p99": 12.5,
        "n": 3,
        "array": [1.0, None],
        "nan": None,
        "nul": "ab",
        "deep": {"infinite": [None, 1.5], "4": "info"},
        "what": "<class 'set'>",
    }


def test_evidence_without_end_is_left_out() -> None:
    endpoint()
    publish(opened(evidence={"windows": ["x" * 100] * MOST_BYTES}))
    assert "KB" in AlertEvent.objects.get().event["evidence"]["left_out"]

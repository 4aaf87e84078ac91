"""Endpoints of alerts, the events to send, and the deliveries with their attempts."""

from typing import ClassVar

from django.db import models

from dashboard.alerts.events import Severity
from dashboard.alerts.formats import Format


class Endpoint(models.Model):
    """A URL that alerts are sent to. `job` is text: an endpoint outlives the records of its job.

    The secrets are kept as they are, since each message is signed with them.
    """

    name = models.CharField(max_length=80)
    url = models.CharField(max_length=2_000)
    format = models.CharField(max_length=12, choices=[(each.value, each.value) for each in Format])
    job = models.CharField(max_length=120, blank=True, default="", help_text="empty: all jobs")
    events = models.JSONField(default=list, help_text="types of events; empty: all")
    kinds = models.JSONField(default=list, help_text="kinds of incidents; empty: all")
    least_severity = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in Severity],
        default=Severity.INFO.value,
    )
    routing_key = models.CharField(max_length=100, blank=True, default="", help_text="PagerDuty's")
    secret = models.CharField(max_length=80)
    previous_secret = models.CharField(max_length=80, blank=True, default="")
    previous_until_ms = models.BigIntegerField(default=0, help_text="how long it signs as well")
    active = models.BooleanField(default=True)
    disabled_because = models.CharField(max_length=200, blank=True, default="")
    paused_until_ms = models.BigIntegerField(default=0, help_text="it asked us to come back later")
    created_ms = models.BigIntegerField()
    version = models.BigIntegerField(default=1, help_text="rises with every operator's change")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.name


class AlertEvent(models.Model):
    """An event of the outbox, written in the transaction of the change that it reports."""

    webhook_id = models.CharField(max_length=40, unique=True)
    type = models.CharField(max_length=40)
    job = models.CharField(max_length=120)
    subject = models.CharField(max_length=250)
    event = models.JSONField()
    at_ms = models.BigIntegerField(db_index=True)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.webhook_id} {self.type}"


class Delivery(models.Model):
    """One event for one endpoint. The worker that sends it holds a lease, which can expire."""

    class State(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    event = models.ForeignKey(AlertEvent, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    because = models.CharField(max_length=200, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0, help_text="attempts since first_ms that failed")
    first_ms = models.BigIntegerField(help_text="since when it is tried")
    due_ms = models.BigIntegerField()
    done_ms = models.BigIntegerField(null=True)
    lease = models.CharField(max_length=40, blank=True, default="")
    leased_until_ms = models.BigIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["event", "endpoint"], name="one_delivery_per_endpoint")
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "due_ms"], name="deliveries_due"),
            models.Index(fields=["endpoint", "-id"], name="deliveries_of_endpoint"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.endpoint_id}: {self.state}"


class Attempt(models.Model):
    """One request of a delivery and its answer."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="log")
    number = models.PositiveIntegerField()
    at_ms = models.BigIntegerField()
    duration_ms = models.IntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=200, blank=True, default="")
    response = models.TextField(blank=True, default="", help_text="its beginning; for admins alone")

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.delivery_id} #{self.number}: {self.status or self.error}"

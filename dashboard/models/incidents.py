"""Incidents of jobs: what, when, why, and who acknowledged it."""

from typing import ClassVar

from django.db import models

from dashboard.models.jobs import Job


class Incident(models.Model):
    """A problem of a job; each time that it comes back counts as one more occurrence."""

    class State(models.TextChoices):
        OPEN = "open"
        ACKNOWLEDGED = "acknowledged"
        RESOLVED = "resolved"

    class Severity(models.TextChoices):
        INFO = "info"
        WARNING = "warning"
        CRITICAL = "critical"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="incidents")
    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=12, choices=State, default=State.OPEN)
    severity = models.CharField(max_length=8, choices=Severity, default=Severity.WARNING)
    onset_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField(null=True, db_index=True)
    occurrences = models.PositiveIntegerField(default=1)
    next_expected_ms = models.BigIntegerField(null=True)
    explanation = models.TextField(blank=True, default="")
    technique = models.CharField(max_length=60, blank=True, default="")
    evidence = models.JSONField(default=dict)
    # The name instead of a foreign key: it must stay known when the account is deleted.
    acknowledged_by = models.CharField(max_length=200, blank=True, default="")
    acknowledged_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["job", "onset_ms"], name="incidents_of_a_job"),
            models.Index(fields=["state"], name="incidents_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.kind} at {self.onset_ms}"

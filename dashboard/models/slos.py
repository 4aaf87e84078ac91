"""SLOs: the p99 latency that a job should not exceed."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dashboard.models.jobs import Job

LONGEST_P99_MS = 3_600_000


class Slo(models.Model):
    """A withdrawn SLO keeps its row without a value, so that its versions are never reused."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="slo")
    p99_ms = models.FloatField(null=True)
    version = models.PositiveIntegerField(default=1)
    # The state of `dashboard.slo` between two evaluations.
    judged_ms = models.BigIntegerField(default=0, help_text="end of the last minute judged")
    above = models.PositiveSmallIntegerField(default=0, help_text="judgements in a row above it")
    violated_ms = models.BigIntegerField(null=True, help_text="since when it is violated")

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(p99_ms__isnull=True) | Q(p99_ms__gt=0, p99_ms__lte=LONGEST_P99_MS),
                name="slo_within_an_hour",
            )
        ]

    def __str__(self) -> str:
        return f"{self.job_id} p99 ≤ {self.p99_ms} ms"

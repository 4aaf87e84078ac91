"""SLOs: what a job is to reach, as `techniques.slo.objective` has it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dashboard.models.jobs import Job
from techniques.slo.objective import HIGHEST_PRIORITY, LONGEST_MS, LOWEST_PRIORITY


class Slo(models.Model):
    """A withdrawn SLO keeps its row without an objective, so that its versions are never reused."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="slo")
    objective = models.JSONField(null=True, help_text="written by techniques.slo.objective.as_data")
    version = models.PositiveIntegerField(default=1)
    # The state of `dashboard.slo` between two evaluations.
    judged_ms = models.BigIntegerField(default=0, help_text="end of the last minute judged")
    above = models.PositiveSmallIntegerField(default=0, help_text="judgements in a row above it")
    violated_ms = models.BigIntegerField(null=True, help_text="since when it is violated")

    class Meta:
        # A target that an objective does not have is NULL here, which a check lets pass.
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(
                    objective__latency__threshold_ms__gt=0,
                    objective__latency__threshold_ms__lte=LONGEST_MS,
                ),
                name="slo_latency_within_an_hour",
            ),
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(objective__juice__threshold__gt=0, objective__juice__threshold__lte=1),
                name="slo_juice_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(objective__isnull=True)
                | Q(
                    objective__priority__gte=LOWEST_PRIORITY,
                    objective__priority__lte=HIGHEST_PRIORITY,
                ),
                name="slo_priority_is_bounded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.objective}"

"""SLOs: what a job is to reach, as `techniques.slo.objective` has it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dashboard.models.jobs import Job
from techniques.slo.objective import HIGHEST_PRIORITY, LONGEST_MS, LOWEST_PRIORITY

# Of bins of ten seconds: an hour.
BINS_PER_HOUR = 360
MOST_OUTCOMES = 360
NO_OUTCOME = "."
NO_OUTCOMES = NO_OUTCOME * BINS_PER_HOUR


def no_utilities() -> list[float | None]:
    return [None] * BINS_PER_HOUR


class Slo(models.Model):
    """A withdrawn SLO keeps its row without an objective, so that its versions are never reused."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="slo")
    objective = models.JSONField(null=True, help_text="written by techniques.slo.objective.as_data")
    version = models.PositiveIntegerField(default=1)
    # The state of `dashboard.slo` between two evaluations (`dashboard.slo.burn.State`).
    judged_ms = models.BigIntegerField(default=0, help_text="end of the last bin judged")
    outcomes = models.CharField(
        max_length=MOST_OUTCOMES, default="", blank=True, help_text="of the last bins judged"
    )
    missing_ms = models.BigIntegerField(null=True, help_text="start of the bins missed lately")
    violated_ms = models.BigIntegerField(null=True, help_text="since when it is violated")
    # What the last bin judged had, for pages.
    latency_ms = models.FloatField(null=True)
    juice = models.FloatField(null=True)
    utility = models.FloatField(null=True)

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


class SloHour(models.Model):
    """What the bins of an hour were worth, and which of them missed the SLO that the job has now.
    A job has those of a day, and two more for the hours at its ends."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="slo_hours")
    start_ms = models.BigIntegerField()
    outcomes = models.CharField(max_length=BINS_PER_HOUR, default=NO_OUTCOMES)
    utilities = models.JSONField(default=no_utilities)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "start_ms"], name="an_hour_once_per_job")
        ]

    def __str__(self) -> str:
        return f"{self.job_id} from {self.start_ms}"

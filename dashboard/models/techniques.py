"""What operators asked of techniques, what controllers decided, and what the jobs reported."""

from typing import ClassVar

from django.db import models

from dashboard.models.jobs import Job
from techniques.model import Mode


class Stand(models.TextChoices):
    """The state of a setting, as the job's frames report it."""

    OFF = "off"
    ASKED = "asked"
    APPLIED = "applied"
    REFUSED = "refused"


class ControlDocument(models.Model):
    """The version of a job's newest control document; it only increases."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="control")
    version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.job_id} control {self.version}"


class TechniqueSetting(models.Model):
    """What is asked of one technique for one job, and what the job reported about it."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="techniques")
    technique = models.CharField(max_length=60)
    mode = models.CharField(max_length=10, choices=[(mode.value, mode.value) for mode in Mode])
    options = models.JSONField(default=dict)
    version = models.BigIntegerField(default=0, help_text="rises with every operator's change")
    document_version = models.BigIntegerField(
        default=0, help_text="of the control document, when mode or settings changed last"
    )
    by = models.CharField(max_length=200, blank=True)
    changed_ms = models.BigIntegerField()
    stand = models.CharField(max_length=10, choices=Stand.choices, default=Stand.ASKED)
    because = models.CharField(max_length=300, blank=True)
    applied_ms = models.BigIntegerField(null=True, help_text="since when the job holds it")
    before = models.JSONField(default=list, help_text="percentiles of the blocks before that")

    class Meta:
        ordering: ClassVar = ["technique"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "technique"], name="one_setting_per_technique")
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.technique} {self.mode}"


class ClusterLease(models.Model):
    """The lease of a technique of cluster scope for the jobs of a label: its decisions hold only
    while the deciding worker renews it."""

    technique = models.CharField(max_length=60)
    label = models.CharField(max_length=200)
    renewed_ms = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["technique", "label"], name="one_lease_per_cluster")
        ]

    def __str__(self) -> str:
        return f"{self.technique} {self.label}"


class TechniqueDecision(models.Model):
    """A decision of a controller; a row is added only if settings or reason differ from the one
    before. What the controller remembers beside them is written into that one."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="decisions")
    technique = models.CharField(max_length=60)
    at_ms = models.BigIntegerField()
    settings = models.JSONField(default=dict)
    reason = models.TextField()
    evidence = models.JSONField(default=list)
    memory = models.JSONField(default=dict, help_text="what the controller wants to find again")

    class Meta:
        ordering: ClassVar = ["-at_ms"]
        indexes: ClassVar = [models.Index(fields=["job", "technique", "-at_ms"])]

    def __str__(self) -> str:
        return f"{self.job_id} {self.technique} at {self.at_ms}"

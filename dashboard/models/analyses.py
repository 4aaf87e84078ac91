"""Analyses of archived history: what was asked, how far it is, and what came out."""

from typing import ClassVar

from django.db import models


class Analysis(models.Model):
    """`jobs` empty means all jobs of the archive. While it runs, its process renews `beat_ms`; one
    that fell silent was killed. `report` is that of `dashboard.history.analysis.report`."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    asked_by = models.CharField(max_length=200)
    asked_ms = models.BigIntegerField()
    start_ms = models.BigIntegerField()
    end_ms = models.BigIntegerField()
    jobs = models.JSONField(default=list)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    beat_ms = models.BigIntegerField()
    because = models.CharField(max_length=500, blank=True, default="")
    report = models.JSONField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name_plural = "analyses"

    def __str__(self) -> str:
        return f"analysis {self.pk} of {self.start_ms} to {self.end_ms}"

"""Words that operators put on jobs to find them again."""

from typing import ClassVar

from django.db import models

from dashboard.models.jobs import Job

LONGEST_TAG = 40


class Tag(models.Model):
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=LONGEST_TAG)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "name"], name="a_tag_once_per_job")
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.name}"

"""What operators set for all jobs of a label."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from dashboard.models.tags import LONGEST_TAG

LARGEST = 100_000


class ClusterSize(models.Model):
    """How many units of parallelism (threads, instances, slots) the jobs of a label may take
    together; without a row nobody has said."""

    label = models.CharField(max_length=LONGEST_TAG, unique=True, help_text="as the tag has it")
    size = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(size__gt=0, size__lte=LARGEST), name="cluster_size_is_bounded"
            )
        ]

    def __str__(self) -> str:
        return f"{self.label} of {self.size}"

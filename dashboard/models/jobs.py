"""Which jobs there are and how often each was started."""

from typing import ClassVar

from django.db import models


class Job(models.Model):
    """One streaming query, the same across restarts. `id` is what its Redis keys carry."""

    id = models.CharField(max_length=120, primary_key=True)
    application = models.CharField(max_length=120)
    query = models.CharField(max_length=120)
    first_seen_ms = models.BigIntegerField()
    last_seen_ms = models.BigIntegerField(db_index=True)

    class Meta:
        ordering: ClassVar = ["application", "query"]

    def __str__(self) -> str:
        return self.id


class Run(models.Model):
    """One start of a job, from `start()` of the query to its end."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    run_id = models.CharField(max_length=64)
    application_id = models.CharField(max_length=120)
    spark_version = models.CharField(max_length=32)
    driver_host = models.CharField(max_length=255)
    started_ms = models.BigIntegerField()
    last_seen_ms = models.BigIntegerField()
    ended_ms = models.BigIntegerField(null=True)
    end_reason = models.TextField(blank=True, default="")
    lost_ms = models.BigIntegerField(
        null=True, help_text="its last heartbeat, once others were told that it is silent"
    )

    class Meta:
        ordering: ClassVar = ["-started_ms"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "run_id"], name="one_record_per_run")
        ]

    def __str__(self) -> str:
        return f"{self.job_id} run {self.run_id}"

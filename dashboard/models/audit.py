"""Who changed what, when and why. Entries are added and never changed."""

from typing import Any, ClassVar, NoReturn

from django.db import models


class AppendOnly(Exception):
    """Code tried to change or delete an audit entry."""


class Entries(models.QuerySet["AuditEntry"]):
    """Refuses the ORM's ways to change rows; database triggers refuse all others."""

    def update(self, **changes: Any) -> NoReturn:
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise AppendOnly("audit entries are never changed")


class AuditEntry(models.Model):
    """`who` and `job` are text: an entry outlives the user and the job it tells of."""

    at_ms = models.BigIntegerField()
    who = models.CharField(max_length=200)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    job = models.CharField(max_length=120, blank=True, default="")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.CharField(max_length=500, blank=True, default="")

    objects = Entries.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["job", "-id"], name="audit_by_job"),
            models.Index(fields=["who", "-id"], name="audit_by_who"),
        ]

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.subject}"

    def save(self, *args: Any, **options: Any) -> None:
        if self.pk is not None:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise AppendOnly("audit entries are never deleted")

"""Sets the tags of a job. Each change is in the audit."""

from collections.abc import Iterable

from django.db import transaction

from dashboard.accounts import audit
from dashboard.models import Job, Tag

MOST_TAGS = 20


def put(job_id: str, names: Iterable[str], who: str, reason: str) -> list[str]:
    """Replaces the job's tags; returns them sorted. Raises `Job.DoesNotExist`."""
    wanted = sorted(set(names))
    with transaction.atomic():
        job = Job.objects.select_for_update().get(pk=job_id)
        held = sorted(Tag.objects.filter(job=job).values_list("name", flat=True))
        if held == wanted:
            return held
        Tag.objects.filter(job=job).exclude(name__in=wanted).delete()
        Tag.objects.bulk_create(Tag(job=job, name=name) for name in wanted if name not in held)
        audit.record(who, "tags.changed", job_id, job_id, held, wanted, reason)
        return wanted

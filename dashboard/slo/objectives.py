"""Sets and withdraws a job's SLO. Each change is in the audit."""

import time
from typing import Any

from django.db import transaction

from dashboard.accounts import audit
from dashboard.alerts import outbox
from dashboard.models import Job, Slo
from dashboard.slo import notifications


class ChangedMeanwhile(Exception):
    def __init__(self, current: dict[str, Any]) -> None:
        super().__init__()
        self.current = current


def as_dict(slo: Slo | None) -> dict[str, Any]:
    """Version 0 means no SLO: there never was one, or it was withdrawn."""
    if slo is None or slo.p99_ms is None:
        return {"p99_ms": None, "version": 0}
    return {"p99_ms": slo.p99_ms, "version": slo.version}


def put(job_id: str, p99_ms: float | None, version: int, who: str, reason: str) -> dict[str, Any]:
    """Raises `Job.DoesNotExist`, or `ChangedMeanwhile` where `version` is not the latest."""
    with transaction.atomic():
        # Locks the job and not the SLO, because there may be no row of the SLO yet.
        job = Job.objects.select_for_update().get(pk=job_id)
        slo = Slo.objects.filter(job=job).first()
        before = as_dict(slo)
        if version != before["version"]:
            raise ChangedMeanwhile(before)
        if p99_ms == before["p99_ms"]:
            return before
        if slo is None:
            slo = Slo(job=job, version=0)
        if p99_ms is None and slo.violated_ms is not None:
            now_ms = time.time_ns() // 1_000_000
            outbox.publish(notifications.taken_back(slo, slo.violated_ms, now_ms, who))
            slo.violated_ms = None
        slo.p99_ms = p99_ms
        slo.version += 1
        slo.above = 0
        slo.save()
        after = as_dict(slo)
        audit.record(who, "slo.changed", job_id, job_id, _value(before), _value(after), reason)
        return after


def _value(slo: dict[str, Any]) -> dict[str, Any]:
    return {"p99_ms": slo["p99_ms"]}

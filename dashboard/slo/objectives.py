"""Sets and withdraws a job's SLO. Each change is in the audit."""

import time
from typing import Any

from django.db import transaction

from dashboard.accounts import audit
from dashboard.alerts import outbox
from dashboard.models import AuditEntry, Job, Slo, SloHour
from dashboard.models.slos import NO_OUTCOMES
from dashboard.slo import notifications
from techniques.slo.objective import Objective, as_data

CHANGED = "slo.changed"


class ChangedMeanwhile(Exception):
    def __init__(self, current: dict[str, Any]) -> None:
        super().__init__()
        self.current = current


def as_dict(slo: Slo | None) -> dict[str, Any]:
    """Version 0 means no SLO: there never was one, or it was withdrawn."""
    if slo is None or slo.objective is None:
        return {"objective": None, "version": 0, "reason": ""}
    # The audit has why; a second copy beside the objective could differ from it.
    changes = AuditEntry.objects.filter(job=slo.job_id, action=CHANGED)
    reason = changes.values_list("reason", flat=True).first() or ""
    return {"objective": slo.objective, "version": slo.version, "reason": reason}


def get(job_id: str) -> dict[str, Any]:
    """Raises `Job.DoesNotExist`."""
    job = Job.objects.select_related("slo").get(pk=job_id)
    return as_dict(getattr(job, "slo", None))


def put(
    job_id: str, objective: Objective | None, version: int, who: str, reason: str
) -> dict[str, Any]:
    """Raises `Job.DoesNotExist`, or `ChangedMeanwhile` where `version` is not the latest."""
    wanted = None if objective is None else as_data(objective)
    with transaction.atomic():
        # Locks the job and not the SLO, because there may be no row of the SLO yet.
        job = Job.objects.select_for_update().get(pk=job_id)
        slo = Slo.objects.filter(job=job).first()
        before = as_dict(slo)
        if version != before["version"]:
            raise ChangedMeanwhile(before)
        if wanted == before["objective"]:
            return before
        if slo is None:
            slo = Slo(job=job, version=0)
        if wanted is None and slo.violated_ms is not None:
            now_ms = time.time_ns() // 1_000_000
            outbox.publish(notifications.taken_back(slo, slo.violated_ms, now_ms, who))
            slo.violated_ms = None
        slo.objective = wanted
        slo.version += 1
        # It is judged anew, and has its whole error budget; what the job was worth stays.
        slo.judged_ms, slo.outcomes, slo.missing_ms = 0, "", None
        slo.latency_ms = slo.juice = slo.utility = None
        slo.save()
        SloHour.objects.filter(job=job).update(outcomes=NO_OUTCOMES)
        audit.record(who, CHANGED, job_id, job_id, before["objective"], wanted, reason)
        return as_dict(slo)

"""What is asked of a job, as its control document in Redis."""

from django.db.models import QuerySet

from collectors.formats import control
from collectors.formats.control import Control, Wanted
from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.models.techniques import ControlDocument
from dashboard.steering import cluster_lease
from dashboard.steering.registered import registry
from dashboard.store import Store
from techniques.model import Mode, Scope


def next_version(job: Job) -> int:
    """Call it in the transaction of the change."""
    document, _ = ControlDocument.objects.get_or_create(job=job)
    document.version += 1
    document.save(update_fields=["version"])
    return document.version


def document(job_id: str, now_ms: int) -> Control:
    settings = TechniqueSetting.objects.filter(job_id=job_id)
    written = ControlDocument.objects.filter(job_id=job_id).first()
    return Control(
        version=written.version if written else 0,
        renewed_ms=now_ms,
        techniques={each.technique: _wanted(each, now_ms) for each in settings if _is_asked(each)},
    )


async def write(store: Store, job_id: str, written: Control) -> None:
    await store.put_control(job_id, control.encode(written))


def _is_asked(setting: TechniqueSetting) -> bool:
    # A setting whose technique is no longer installed on this server counts as off.
    return setting.mode != Mode.OFF and setting.technique in registry().techniques


def _wanted(setting: TechniqueSetting, now_ms: int) -> Wanted:
    technique = registry().techniques[setting.technique]
    decided = latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    # A decision for a cluster holds for all of its jobs or for none.
    holds = technique.scope == Scope.JOB or cluster_lease.holds(setting, now_ms)
    return Wanted(
        # Without a decision there is nothing to act on yet.
        mode=setting.mode if decided and holds else Mode.ADVISE,
        version=setting.document_version,
        lease_ms=technique.lease_ms,
        settings=decided.settings if decided else {},
    )


def latest_decision(job_id: str, technique: str, since_ms: int) -> TechniqueDecision | None:
    # The controller's memory may be long, and few callers read it.
    return decisions(job_id, technique, since_ms).defer("memory").first()


def decisions(job_id: str, technique: str, since_ms: int) -> QuerySet[TechniqueDecision]:
    """Decisions, newest first. `since_ms`: earlier ones were made for another setting."""
    return TechniqueDecision.objects.filter(job_id=job_id, technique=technique, at_ms__gte=since_ms)

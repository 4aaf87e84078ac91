"""What operators ask of techniques."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from dashboard.accounts import audit
from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering import documents
from dashboard.steering.registered import registry
from techniques.model import Mode
from techniques.options import checked


class Outdated(Exception):
    """The setting was changed after the operator loaded it."""


@dataclass(frozen=True)
class Switch:
    mode: Mode
    options: Mapping[str, Any]
    reason: str
    version: int


@transaction.atomic
def switch(job: Job, name: str, asked: Switch, who: str, now_ms: int) -> TechniqueSetting:
    """Raises `Outdated` or `OptionFault`; KeyError for an unknown technique."""
    options = checked(registry().techniques[name].options, asked.options)
    # Locking the job's row serialises operators and workers (SQLite has one writer anyway).
    Job.objects.select_for_update().get(pk=job.pk)
    setting = TechniqueSetting.objects.filter(job=job, technique=name).first()
    if setting is None:
        setting = TechniqueSetting(
            job=job, technique=name, mode=Mode.OFF, changed_ms=now_ms, stand=Stand.OFF
        )
    if setting.version != asked.version:
        raise Outdated
    before = _told(setting)
    advised = _advised(setting)
    setting.mode, setting.options = asked.mode, options
    if _told(setting) == before and setting.version:
        return setting
    setting.version += 1
    setting.by, setting.changed_ms = who, now_ms
    setting.stand, setting.because = Stand.ASKED, ""
    setting.applied_ms, setting.before = None, []
    setting.document_version = documents.next_version(job)
    setting.save()
    if advised and asked.mode == Mode.ACT and before["options"] == options:
        _take_over(advised, now_ms)
    audit.record(
        who=who,
        action="technique.switched",
        subject=name,
        job=job.pk,
        before=before,
        after=_told(setting),
        reason=asked.reason,
    )
    return setting


def _advised(setting: TechniqueSetting) -> TechniqueDecision | None:
    if setting.mode != Mode.ADVISE:
        return None
    return documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)


def _take_over(advised: TechniqueDecision, now_ms: int) -> None:
    """Acts on the advised decision until the controller decides again: it is what the operator saw
    and agreed to. The controller's memory from *advise* is not taken over."""
    TechniqueDecision.objects.create(
        job_id=advised.job_id,
        technique=advised.technique,
        at_ms=now_ms,
        settings=advised.settings,
        reason=advised.reason,
        evidence=advised.evidence,
    )


def _told(setting: TechniqueSetting) -> dict[str, Any]:
    return {"mode": str(setting.mode), "options": setting.options}

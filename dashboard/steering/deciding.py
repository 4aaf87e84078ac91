"""Runs controllers: windows in, decisions out. What one of them gets wrong stays with it."""

import logging
from dataclasses import asdict

from django.db import transaction

from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.steering import documents
from dashboard.steering.techniques import registry
from techniques.model import Conditions, Decision, Mode
from techniques.view import View

log = logging.getLogger(__name__)


def conditions(technique: str, view: View) -> Conditions:
    try:
        return registry().controller(technique).conditions(view)
    except Exception:
        log.exception("the conditions of %s cannot be told", technique)
        return Conditions(None, "this could not be found out; the server's log says why")


def decide(setting: TechniqueSetting, view: View, now_ms: int) -> None:
    """Writes a decision down where it differs from the one before."""
    try:
        decision = registry().controller(setting.technique).decide(view, setting.options)
    except Exception:
        log.exception("%s could not decide for %s", setting.technique, setting.job_id)
        return
    if decision is None:
        return
    before = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    if before is None or before.settings != dict(decision.settings):
        _write(setting, decision, now_ms)


@transaction.atomic
def _write(setting: TechniqueSetting, decision: Decision, now_ms: int) -> None:
    job = Job.objects.select_for_update().get(pk=setting.job_id)
    fresh = TechniqueSetting.objects.filter(pk=setting.pk, version=setting.version)
    if not fresh.exists():
        return  # an operator was faster: the next round decides on what was asked then
    before = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    if before and before.settings == dict(decision.settings):
        return  # the worker that had the job before us decided the same
    TechniqueDecision.objects.create(
        job=job,
        technique=setting.technique,
        at_ms=now_ms,
        settings=dict(decision.settings),
        reason=decision.reason,
        evidence=[asdict(each) for each in decision.evidence],
    )
    if setting.mode == Mode.ACT:
        setting.document_version = documents.next_version(job)
        fresh.update(document_version=setting.document_version)

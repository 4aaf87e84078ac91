"""Runs controllers: windows in, decisions out."""

import logging
from dataclasses import asdict

from django.db import transaction

from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering import documents
from dashboard.steering.registered import options, registry
from techniques.model import Conditions, Decision, Evidence, Figure, Mode, Options, Past
from techniques.view import View

log = logging.getLogger(__name__)


def conditions(technique: str, view: View) -> Conditions:
    try:
        return registry().controller(technique).conditions(view)
    except Exception:
        log.exception("the conditions of %s cannot be told", technique)
        return Conditions(None, "this could not be found out; the server's log says why")


def figure(technique: str, view: View, decided: TechniqueDecision | None) -> Figure | None:
    try:
        picture = registry().picture(technique)
        return picture.figure(view, _decision(decided)) if picture else None
    except Exception:
        log.exception("the figure of %s cannot be drawn", technique)
        return None


def decide(setting: TechniqueSetting, view: View, run: str, now_ms: int) -> bool:
    """Lets the controller decide and stores the decision if it is new; returns whether it was.
    `run` is the job's run id. The caller must catch what the controller throws."""
    controller = registry().controller(setting.technique)
    decision = controller.decide(view, given(setting), past(setting, run))
    return decision is not None and keep(setting, decision, now_ms)


def keep(setting: TechniqueSetting, decision: Decision, now_ms: int) -> bool:
    """Stores a decision if it differs from the one before; returns whether it did. Raises
    `SettingFault` if its settings are not those that the technique declares."""
    registry().techniques[setting.technique].settings.check(decision.settings)
    before = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    return not _is_same(before, decision) and _write(setting, decision, now_ms)


def given(setting: TechniqueSetting) -> Options:
    return options(registry().techniques[setting.technique], setting.options)


def past(setting: TechniqueSetting, run: str) -> Past:
    before = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    return Past(
        mode=Mode(setting.mode),
        run=run,
        decision=_decision(before),
        refused=setting.because if setting.stand == Stand.REFUSED else "",
    )


def _decision(decided: TechniqueDecision | None) -> Decision | None:
    if decided is None:
        return None
    evidence = tuple(Evidence(**each) for each in decided.evidence)
    return Decision(decided.settings, decided.reason, evidence, decided.memory)


def _is_same(before: TechniqueDecision | None, decision: Decision) -> bool:
    if before is None or before.settings != dict(decision.settings):
        return False
    return bool(before.memory == dict(decision.memory))


@transaction.atomic
def _write(setting: TechniqueSetting, decision: Decision, now_ms: int) -> bool:
    job = Job.objects.select_for_update().get(pk=setting.job_id)
    fresh = TechniqueSetting.objects.filter(pk=setting.pk, version=setting.version)
    if not fresh.exists():
        return False  # an operator changed the setting: the next round decides for the new one
    before = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    if _is_same(before, decision):
        return False  # the job's previous worker stored the same decision
    is_held = before is not None and before.settings == dict(decision.settings)
    if before is not None and is_held and before.reason == decision.reason:
        # Only what is remembered changed, as it may with every look: no new decision.
        before.memory = dict(decision.memory)
        before.evidence = [asdict(each) for each in decision.evidence]
        before.save(update_fields=["memory", "evidence"])
        return False
    TechniqueDecision.objects.create(
        job=job,
        technique=setting.technique,
        at_ms=now_ms,
        settings=dict(decision.settings),
        reason=decision.reason,
        evidence=[asdict(each) for each in decision.evidence],
        memory=dict(decision.memory),
    )
    if setting.mode == Mode.ACT and not is_held:
        setting.document_version = documents.next_version(job)
        fresh.update(document_version=setting.document_version)
    return True

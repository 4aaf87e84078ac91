"""Technique cards as the API and the job page show them."""

from dataclasses import asdict
from typing import Any

from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering import controllers, documents, effects
from dashboard.steering.registered import options, registry
from dashboard.store import Store
from techniques.model import Figure, Mode, Option, Technique
from techniques.view import View


async def cards(store: Store, job: Job, view: View, now_ms: int) -> list[dict[str, Any]]:
    """One per technique of the registry, by title."""
    settings = {each.technique: each async for each in job.techniques.all()}
    known = sorted(registry().techniques.values(), key=lambda technique: technique.title)
    return [await card(store, job, each, settings.get(each.name), view, now_ms) for each in known]


async def card(
    store: Store,
    job: Job,
    technique: Technique,
    setting: TechniqueSetting | None,
    view: View,
    now_ms: int,
) -> dict[str, Any]:
    decided = await _decided(job, technique, setting)
    holds = controllers.conditions(technique.name, view)
    return {
        "name": technique.name,
        "title": technique.title,
        "sentence": technique.sentence,
        "needs": technique.needs,
        **_asked(setting),
        "conditions": asdict(holds),
        "options": _options(technique, setting),
        "decision": decided and _decision(decided),
        "figure": _figure(controllers.figure(technique.name, view, decided)),
        "effect": await effects.effect(store, setting, now_ms) if setting else None,
    }


def _asked(setting: TechniqueSetting | None) -> dict[str, Any]:
    if setting is None:
        return {
            "mode": Mode.OFF,
            "state": Stand.OFF,
            "because": "",
            "since_ms": None,
            "by": "",
            "version": 0,
        }
    return {
        "mode": setting.mode,
        "state": setting.stand,
        "because": setting.because,
        "since_ms": setting.changed_ms,
        "by": setting.by,
        "version": setting.version,
    }


def _options(technique: Technique, setting: TechniqueSetting | None) -> list[dict[str, Any]]:
    values = options(technique, setting.options if setting else {})
    return [_option(option, values[option.name]) for option in technique.options]


def _option(option: Option, value: object) -> dict[str, Any]:
    return {**asdict(option), "choices": list(option.choices), "value": value}


async def _decided(
    job: Job, technique: Technique, setting: TechniqueSetting | None
) -> TechniqueDecision | None:
    if setting is None or setting.mode == Mode.OFF:
        return None
    return await documents.decisions(job.pk, technique.name, setting.changed_ms).afirst()


def _figure(drawn: Figure | None) -> dict[str, Any] | None:
    return None if drawn is None else {**asdict(drawn), "points": [asdict(p) for p in drawn.points]}


def _decision(decided: TechniqueDecision) -> dict[str, Any]:
    return {
        "at_ms": decided.at_ms,
        "reason": decided.reason,
        "evidence": decided.evidence,
        "settings": decided.settings,
    }

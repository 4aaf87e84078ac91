"""Technique cards as the API and the job page show them: what the database says of a job's
settings, with what the worker computed from its windows."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering import documents
from dashboard.steering.computed import Computed
from dashboard.steering.registered import options, registry
from techniques.model import Mode, Option, Technique


def cards(job: Job, computed: Computed, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Returns a card per technique of the registry, or of `names`, ordered by title."""
    settings = {each.technique: each for each in job.techniques.all()}
    known = registry().techniques
    chosen = sorted(
        (known[name] for name in (known if names is None else names)),
        key=lambda technique: technique.title,
    )
    return [_card(technique, settings.get(technique.name), computed) for technique in chosen]


def _card(
    technique: Technique, setting: TechniqueSetting | None, computed: Computed
) -> dict[str, Any]:
    part = computed.of(technique.name)
    # A result computed for another version of the setting does not belong to this one.
    is_of_setting = part.version == (setting.version if setting else 0)
    decided = _decided(setting)
    return {
        "name": technique.name,
        "title": technique.title,
        "sentence": technique.sentence,
        "needs": technique.needs,
        **_asked(setting),
        "computed_ms": computed.computed_ms,
        "failure": computed.failure,
        "conditions": part.conditions,
        "options": _options(technique, setting),
        "decision": decided and _decision(decided),
        "figure": part.figure if is_of_setting else None,
        "effect": part.effect if is_of_setting else None,
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
            "document_version": 0,
        }
    return {
        "mode": setting.mode,
        "state": setting.stand,
        "because": setting.because,
        "since_ms": setting.changed_ms,
        "by": setting.by,
        "version": setting.version,
        "document_version": setting.document_version,
    }


def _options(technique: Technique, setting: TechniqueSetting | None) -> list[dict[str, Any]]:
    values = options(technique, setting.options if setting else {})
    return [_option(option, values[option.name]) for option in technique.options]


def _option(option: Option, value: object) -> dict[str, Any]:
    return {**asdict(option), "choices": list(option.choices), "value": value}


def _decided(setting: TechniqueSetting | None) -> TechniqueDecision | None:
    if setting is None or setting.mode == Mode.OFF:
        return None
    return documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)


def _decision(decided: TechniqueDecision) -> dict[str, Any]:
    return {
        "at_ms": decided.at_ms,
        "reason": decided.reason,
        "evidence": decided.evidence,
        "settings": decided.settings,
    }
